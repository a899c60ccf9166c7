import { flagError } from '../errors.js';
import { foldTopic } from '../matches/match.js';
import { type affectedSince, readAffected, readSpanFacts } from '../store/evidence/affected.js';
import { type PopulationMember, readPopulation, toState } from '../store/evidence/population.js';
import { knownTopics } from '../vocabulary/words.js';
import type { AppContext } from './app-context.js';
import { chooseImportedRosters } from './coverage.js';
import { toSpan } from './evidence-figures.js';
import { type PackedMember, readPackedMembers } from './packed-history.js';

/**
 * Opens the list of the customers who were in scope at a moment (now, unless said otherwise), of one roster or of all. `finish` gives the sums once
 * all batches are read. Throws ConfigError for an unknown roster.
 */
export async function listPopulation(
  app: AppContext,
  { at = null, roster }: { at?: Date | null; roster?: string | undefined },
  signal: AbortSignal,
) {
  const { database, clock } = app;
  const { imported, neverImported } = await chooseImportedRosters(app, roster);
  const now = clock.now();
  const isNow = at === null || at >= now;
  const moment = { at: isNow ? now : at, isNow };
  const states: Record<string, number> = {};
  const sums = { inScope: 0, notValid: 0, states };
  const rosterIds = imported.map(({ rosterId }) => rosterId);
  const packed = await readPackedMembers(app, rosterIds, moment.at);
  const read = async function* () {
    for await (const found of readPopulation(database, rosterIds, moment)) {
      signal.throwIfAborted();
      // Who had left is in scope only where the pack says so.
      const batch = found
        .map((member) => fillFromPack(member, packed))
        .filter(({ hasLeft, runId }) => !hasLeft || runId !== null);
      for (const { state, reason } of batch) {
        sums.inScope += 1;
        states[state] = (states[state] ?? 0) + 1;
        if (reason !== null) sums.notValid += 1;
      }
      yield batch;
    }
  };
  const rosters = imported.map((one) => one.roster);
  return { at: moment.at, rosters, neverImported, batches: read(), finish: () => sums };
}

/** A customer whose run left the database, as its pack says. */
function fillFromPack(member: PopulationMember, packed: ReadonlyMap<number, PackedMember>): PopulationMember {
  const found = packed.get(member.customerId ?? 0);
  if (found === undefined || found.runNumber < (member.runNumber ?? 0)) return member;
  const { isScreened, isFresh, runId, runNumber, outcome, because } = found;
  const reasonOfPack = isScreened ? member.recordedReason : (because ?? outcome);
  const reason = isScreened && !isFresh ? 'expired' : reasonOfPack;
  return { ...member, runId, runNumber, outcome, because, reason, state: toState(member.recordedState, reason) };
}

/**
 * Opens the list of the customers with an answer that was received on days of a span (both included), of one roster or of all; `topic`: only those
 * without a hit of this risk category. `finish` gives the sums once all batches are read. Throws ConfigError for an unknown roster, for a risk
 * category that nobody has, and for days in the wrong order.
 */
export async function listAffected(
  app: AppContext,
  asked: { since: string; until: string; topic?: string | undefined; roster?: string | undefined },
  signal: AbortSignal,
) {
  const { database, clock, settings } = app;
  const days = toSpan(asked, settings.timezone);
  const { imported } = await chooseImportedRosters(app, asked.roster);
  const span = { ...days, rosterIds: imported.map(({ rosterId }) => rosterId) };
  const topic = asked.topic === undefined ? null : foldTopic(asked.topic);
  const { runs, packedRuns, isTopicKnown } = await readSpanFacts(database, span, topic);
  if (topic !== null && !isTopicKnown && !knownTopics.includes(topic)) {
    const message = `no match ever had the risk category ${topic}; common ones are ${knownTopics.join(', ')}`;
    throw flagError('--topic', message);
  }
  const sinceThen: Record<(typeof affectedSince)[number], number> = { not_screened: 0, left: 0, screened: 0 };
  const sums = { customers: 0, sinceThen };
  const read = async function* () {
    for await (const batch of readAffected(database, span, { topic, now: clock.now() })) {
      signal.throwIfAborted();
      for (const customer of batch) {
        sums.customers += 1;
        sinceThen[customer.sinceThen] += 1;
      }
      yield batch;
    }
  };
  return {
    ...days,
    rosters: imported.map((one) => one.roster),
    topic,
    runs,
    packedRuns,
    batches: read(),
    finish: () => sums,
  };
}
