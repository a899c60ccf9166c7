import { createHmac } from 'node:crypto';
import { type AnswerOrigin, detectChanges, isSameAnswer } from '../../changes/match-changes.js';
import { type MatchSet, toMatchSet, toPartyState, treatAsTruncated } from '../../matches/match.js';
import type { ScreeningOutcome } from '../../screening/screen.js';
import { saveChangeEvents } from '../../store/changes.js';
import { type Queryable, requireFound } from '../../store/database/database.js';
import { insertCommitBatch, type SearchAttempts, saveAttempts } from '../../store/ledger.js';
import { dateReusedStates } from '../../store/plan.js';
import { readReusable } from '../../store/plan-sql.js';
import { readMatchSets, saveResponses } from '../../store/responses.js';
import {
  type PartyStateRow,
  readAssessedParties,
  readPartyStates,
  type SearchTask,
  savePartyStates,
  saveScreeningResults,
} from '../../store/screenings.js';
import { toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import type { WatchedAccount } from './monitoring.js';
import { toReuseScope } from './plan.js';

/** The keyed digest of an answer in hex: HMAC-SHA-256 over its bytes as received. */
export const digestAnswer = (digestKey: Buffer, body: string): string =>
  createHmac('sha256', digestKey).update(body).digest('hex');

/** Parties whose request has been answered. */
interface AnsweredTask {
  task: Pick<SearchTask, 'requestId' | 'parties'>;
  responseId: number;
  matchSet: MatchSet;
}

type AnsweredParty = Pick<PartyStateRow, 'partyId' | 'responseId' | 'requestId' | 'customerVersion' | 'settingsDigest'>;

/** An answer as it came for one party. */
interface PartyAnswer {
  party: AnsweredParty;
  matchSet: MatchSet;
  known: PartyStateRow | undefined;
}

/** What answers change for their parties, each compared with its own last state on the account. */
async function assessAnswers(
  transaction: Queryable,
  session: RunSession,
  account: WatchedAccount,
  { answered, known }: { answered: readonly AnsweredTask[]; known: ReadonlyMap<number, PartyStateRow> },
) {
  const { settings, settingsDigest } = session.app;
  const answers = answered.flatMap(({ task, responseId, matchSet }) =>
    task.parties.map(
      ({ partyId, customerVersion }): PartyAnswer => ({
        party: { partyId, responseId, requestId: task.requestId, customerVersion, settingsDigest },
        matchSet: treatAsTruncated(matchSet, account.listCap),
        known: known.get(partyId),
      }),
    ),
  );
  // An answer that is the stored one to the letter changes nothing: most of a night.
  const others = answers.filter((answer) => !isSame(answer));
  // Only a customer whose record has changed makes a confirmed match urgent, and may only be read differently.
  const ofChanged = others.filter(({ party, known }) => known && known.customerVersion !== party.customerVersion);
  const [knownSets, { parties, confirmed, said }] = await Promise.all([
    readMatchSets(
      transaction,
      others.flatMap(({ known }) => known?.responseId ?? []),
    ),
    readAssessedParties(transaction, account.accountId, {
      // Most first screenings find nothing, and then there is nothing to judge.
      parties: others.flatMap(({ party, matchSet, known }) => (known || matchSet.matches.length > 0 ? [party] : [])),
      confirmed: ofChanged.map(({ party }) => party.partyId),
      said: ofChanged.flatMap(({ party, known }) => (known ? [party, known] : [])),
    }),
  ]);
  const withSaid = <Origin extends AnsweredParty>(origin: Origin): Origin & Pick<AnswerOrigin, 'said'> => ({
    ...origin,
    said: said.get(`${origin.partyId}/${origin.customerVersion}`),
  });
  const assessAnswer = ({ party, matchSet, known }: PartyAnswer) => {
    const before = known && knownSets.get(known.responseId);
    const { removed, ...facts } = parties.get(party.partyId) ?? nobody;
    const confirmedIds = confirmed.get(party.partyId) ?? new Set<string>();
    const knownAnswer =
      known && before ? { ...known, matches: before.matches, removed, origin: withSaid(known), confirmedIds } : null;
    return detectChanges(knownAnswer, { matchSet, origin: withSaid(party), party: facts }, settings.changes);
  };
  const assessed = answers.map((answer) => {
    const { party, matchSet, known } = answer;
    const isUnchanged = isSame(answer);
    const { changes, ...next } = isUnchanged
      ? { changes: [], reportedScores: {}, unreturned: [], ...known }
      : assessAnswer(answer);
    const { partyId, customerVersion } = party;
    const former = known?.customerVersion ?? customerVersion;
    const formerCustomerVersion = former === customerVersion ? null : former;
    const { reportedScores, unreturned } = next;
    const state = { ...party, reportedScores, unreturned, state: toPartyState(matchSet, unreturned) };
    return {
      events: changes.map((change) => ({ partyId, customerVersion, formerCustomerVersion, change })),
      state: { ...state, isKnown: isUnchanged && isSameState(state, known) },
    };
  });
  return { events: assessed.flatMap(({ events }) => events), states: assessed.map(({ state }) => state) };
}

const isSame = ({ known, party, matchSet }: PartyAnswer): boolean =>
  isSameAnswer(known, { responseId: party.responseId, truncated: matchSet.truncated });

/** Whether a party's state says of the same answer what the stored one says. */
const isSameState = (next: PartyStateRow, known: PartyStateRow | undefined): boolean =>
  known !== undefined &&
  next.requestId === known.requestId &&
  next.customerVersion === known.customerVersion &&
  next.settingsDigest === known.settingsDigest &&
  next.state === known.state;

/** What is known of a customer of whom nothing bears on any match. */
const nobody = { birthDate: null, countries: [], riskTier: null, removed: [] };

/** A search of the run that has come to its end, with all its attempts. */
export interface FinishedSearch {
  task: SearchTask;
  attempts: SearchAttempts;
  outcome: ScreeningOutcome;
  /** Its answer was bad, and it stays planned to be made once more. */
  isMadeAgain: boolean;
}

/**
 * Saves searches in one transaction: ledger, answers, match sets, change events and the outcome of each party. A search that failed for
 * the service's sake, or is made again, stays planned.
 */
export async function commitScreenings(
  session: RunSession,
  account: WatchedAccount,
  finished: readonly FinishedSearch[],
): Promise<void> {
  await session.write(async (transaction) => {
    const now = session.app.clock.now();
    const { runId } = session.run;
    // What does not wait for one another is sent together.
    const [batchId, known, answered] = await Promise.all([
      insertCommitBatch(transaction, runId, session.lease.epoch, finished.length, now),
      readKnownStates(transaction, account, finished.filter(isAnswered)),
      storeAnswers(transaction, session, finished, now),
      saveAttempts(
        transaction,
        finished.map(({ attempts }) => attempts),
      ),
    ]);
    const { events, states } = await assessAnswers(transaction, session, account, { answered, known });
    await Promise.all([
      saveChangeEvents(transaction, runId, batchId, events),
      savePartyStates(transaction, { accountId: account.accountId, runId, screenedAt: now }, states),
      saveScreeningResults(transaction, runId, batchId, [
        ...states.map(({ partyId, responseId }) => ({
          partyId,
          outcome: 'screened' as const,
          responseId,
          reason: null,
        })),
        ...finished.flatMap(toFailures),
      ]),
    ]);
  });
}

async function storeAnswers(
  transaction: Queryable,
  session: RunSession,
  finished: readonly FinishedSearch[],
  now: Date,
): Promise<readonly AnsweredTask[]> {
  const { organisationId, digestKey } = session.organisation;
  const answers = finished.flatMap(({ task, outcome }) => {
    if (outcome.kind !== 'screened') return [];
    return [
      { task, body: outcome.body, digest: digestAnswer(digestKey, outcome.body), matchSet: toMatchSet(outcome.answer) },
    ];
  });
  const ids = await saveResponses(transaction, organisationId, answers, now);
  return answers.map(({ task, digest, matchSet }) => ({
    task,
    responseId: requireFound(ids, digest, 'response'),
    matchSet,
  }));
}

const isAnswered = ({ outcome }: FinishedSearch): boolean => outcome.kind === 'screened';

/** The last states of the parties that these tasks are for. */
export const readKnownStates = (
  transaction: Queryable,
  { accountId }: WatchedAccount,
  tasks: readonly Pick<AnsweredTask, 'task'>[],
): Promise<ReadonlyMap<number, PartyStateRow>> =>
  readPartyStates(
    transaction,
    accountId,
    tasks.flatMap(({ task }) => task.parties.map(({ partyId }) => partyId)),
  );

function toFailures({ task, outcome, isMadeAgain }: FinishedSearch) {
  if (outcome.kind !== 'failed' || outcome.isTransient || isMadeAgain) return [];
  const { reason } = outcome;
  return task.parties.map(({ partyId }) => ({ partyId, outcome: 'failed' as const, responseId: null, reason }));
}

/** Fails for good what was tried again and still found the service out of reach, each search with its own reason. */
export async function commitFailures(
  session: RunSession,
  failures: readonly { task: SearchTask; reason: string }[],
): Promise<void> {
  if (failures.length === 0) return;
  await session.write(async (transaction) => {
    const now = session.app.clock.now();
    const batchId = await insertCommitBatch(transaction, session.run.runId, session.lease.epoch, failures.length, now);
    const results = failures.flatMap(({ task, reason }) =>
      task.parties.map(({ partyId }) => ({ partyId, outcome: 'failed' as const, responseId: null, reason })),
    );
    await saveScreeningResults(transaction, session.run.runId, batchId, results);
  });
}

const chunkSize = 256;

/**
 * Stage: gives the parties whose requests have been answered already their outcome, without a search: their changes are found against their
 * own last state. An answer that has grown too old since the plan was made, or is not the newest one any more, is left to be searched for.
 * Throws RunHalted when somebody asks to stop.
 */
export async function reuseAnswers(session: RunSession, account: WatchedAccount): Promise<void> {
  const { app, run, signal } = session;
  const { clock, database } = app;
  const { reuse, tiers } = toReuseScope(app, clock.now());
  if (reuse === null) return;
  const ours = { runId: run.runId, accountId: account.accountId };
  for await (const chunk of readReusable(database, ours, { reuse, tiers }, chunkSize)) {
    if (signal.aborted) throw toSignalHalt(signal);
    await commitReuse(session, account, chunk);
  }
}

async function commitReuse(
  session: RunSession,
  account: WatchedAccount,
  reusable: readonly { partyId: number; requestId: number; customerVersion: number; responseId: number }[],
): Promise<void> {
  const { runId } = session.run;
  const { accountId } = account;
  await session.write(async (transaction) => {
    const now = session.app.clock.now();
    const batchId = await insertCommitBatch(transaction, runId, session.lease.epoch, reusable.length, now);
    const matchSets = await readMatchSets(
      transaction,
      reusable.map(({ responseId }) => responseId),
    );
    const answered = reusable.map(({ partyId, requestId, customerVersion, responseId }) => ({
      task: { requestId, parties: [{ partyId, customerVersion }] },
      responseId,
      matchSet: requireFound(matchSets, responseId, 'response'),
    }));
    const known = await readKnownStates(transaction, account, answered);
    const { events, states } = await assessAnswers(transaction, session, account, { answered, known });
    await saveChangeEvents(transaction, runId, batchId, events);
    await savePartyStates(transaction, { accountId, runId, screenedAt: now }, states);
    const partyIds = states.map(({ partyId }) => partyId);
    await dateReusedStates(transaction, { accountId, runId }, partyIds);
    const results = states.map(({ partyId, responseId }) => ({
      partyId,
      outcome: 'reused' as const,
      responseId,
      reason: null,
    }));
    await saveScreeningResults(transaction, runId, batchId, results);
  });
}
