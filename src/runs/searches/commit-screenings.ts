import { detectChanges, type KnownAnswer } from '../../changes/detect-changes.js';
import { toPartyState } from '../../matches/customer-state.js';
import type { MatchSet } from '../../matches/match.js';
import { toMatchSet } from '../../matches/to-match-set.js';
import { treatAsCut } from '../../matches/treat-as-cut.js';
import type { ScreeningOutcome } from '../../screening/screen.js';
import { type NewChangeEvent, saveChangeEvents } from '../../store/change-events.js';
import { insertCommitBatch } from '../../store/commit-batches.js';
import type { Queryable } from '../../store/database.js';
import { type NewPartyState, type PartyStateRow, readPartyStates, savePartyStates } from '../../store/party-states.js';
import { readMatchSets, saveResponses } from '../../store/responses.js';
import { type ScreeningResult, saveScreeningResults } from '../../store/screenings.js';
import { type SearchAttempts, saveAttempts } from '../../store/search-attempts.js';
import type { SearchTask } from '../../store/work-list.js';
import { digestAnswer } from '../ledger/digest-answer.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';

/** A search of the run that has come to its end, with all its attempts. */
export interface FinishedSearch {
  task: SearchTask;
  attempts: SearchAttempts;
  outcome: ScreeningOutcome;
}

/**
 * Saves searches in one transaction: ledger, answers, match sets, change events and the outcome of each party. A search that failed for
 * the service's sake stays planned.
 */
export async function commitScreenings(
  session: RunSession,
  account: WatchedAccount,
  finished: readonly FinishedSearch[],
): Promise<void> {
  await session.write(async (transaction) => {
    const now = session.workplace.clock.now();
    const batchId = await insertCommitBatch(transaction, session.run.runId, session.lease.epoch, finished.length, now);
    await saveAttempts(
      transaction,
      finished.map(({ attempts }) => attempts),
    );
    const answered = await storeAnswers(transaction, session, finished, now);
    const { events, states } = await judgeAnswers(transaction, session, account, answered);
    await saveChangeEvents(transaction, session.run.runId, batchId, events);
    await savePartyStates(
      transaction,
      { accountId: account.accountId, runId: session.run.runId, screenedAt: now },
      states,
    );
    await saveScreeningResults(transaction, session.run.runId, batchId, [
      ...states.map(
        ({ partyId, responseId }): ScreeningResult => ({ partyId, outcome: 'screened', responseId, reason: null }),
      ),
      ...finished.flatMap(toFailures),
    ]);
  });
}

/** Parties whose request has been answered. */
export interface AnsweredTask {
  task: Pick<SearchTask, 'requestId' | 'parties'>;
  responseId: number;
  matchSet: MatchSet;
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
  return answers.flatMap(({ task, digest, matchSet }) => {
    const responseId = ids.get(digest.toString('hex'));
    return responseId === undefined ? [] : [{ task, responseId, matchSet }];
  });
}

/** What answers change for their parties, each compared with its own last state on the account. */
export async function judgeAnswers(
  transaction: Queryable,
  session: RunSession,
  account: WatchedAccount,
  answered: readonly AnsweredTask[],
): Promise<{ events: NewChangeEvent[]; states: NewPartyState[] }> {
  const partyIds = answered.flatMap(({ task }) => task.parties.map((party) => party.partyId));
  const known = await readPartyStates(transaction, account.accountId, partyIds);
  const { settings, settingsDigest } = session.workplace;
  const answers = answered.flatMap(({ task, responseId, matchSet }) =>
    task.parties.map(({ partyId, customerVersion }) => ({
      party: { partyId, responseId, requestId: task.requestId, customerVersion, settingsDigest },
      matchSet: treatAsCut(matchSet, account.listCap),
      known: known.get(partyId),
    })),
  );
  // An answer that is the stored one to the letter changes nothing: most of a night.
  const others = answers.flatMap((answer) => (isSameAnswer(answer) ? [] : (answer.known?.responseId ?? [])));
  const knownSets = await readMatchSets(transaction, others);
  const events: NewChangeEvent[] = [];
  const states: NewPartyState[] = [];
  for (const answer of answers) {
    const { party, matchSet } = answer;
    const { changes, ...next } = isSameAnswer(answer)
      ? { changes: [], reportedScores: {}, unreturned: [], ...answer.known }
      : detectChanges(toKnownAnswer(answer.known, knownSets), matchSet, party, settings.changes);
    const { partyId, customerVersion } = party;
    events.push(...changes.map((change) => ({ partyId, customerVersion, change })));
    const { reportedScores, unreturned } = next;
    states.push({ ...party, reportedScores, unreturned, state: toPartyState(matchSet, unreturned) });
  }
  return { events, states };
}

/** Whether the answer is the stored one and hides as much as it did: a list that is taken for whole now shows what is gone. */
const isSameAnswer = (answer: {
  party: { responseId: number };
  matchSet: MatchSet;
  known: PartyStateRow | undefined;
}): boolean =>
  answer.known?.responseId === answer.party.responseId &&
  (answer.matchSet.truncated || answer.known.unreturned.length === 0);

function toKnownAnswer(state: PartyStateRow | undefined, matchSets: ReadonlyMap<number, MatchSet>): KnownAnswer | null {
  const matchSet = state && matchSets.get(state.responseId);
  if (!state || !matchSet) return null;
  const { reportedScores, unreturned } = state;
  return { matches: matchSet.matches, reportedScores, unreturned, origin: state };
}

function toFailures({ task, outcome }: FinishedSearch): readonly ScreeningResult[] {
  if (outcome.kind !== 'failed' || outcome.isTransient) return [];
  return task.parties.map(({ partyId }) => ({ partyId, outcome: 'failed', responseId: null, reason: outcome.reason }));
}

/** Fails for good what was tried again and still found the service out of reach, each search with its own reason. */
export async function commitFailures(
  session: RunSession,
  failures: readonly { task: SearchTask; reason: string }[],
): Promise<void> {
  if (failures.length === 0) return;
  await session.write(async (transaction) => {
    const now = session.workplace.clock.now();
    const batchId = await insertCommitBatch(transaction, session.run.runId, session.lease.epoch, failures.length, now);
    const results = failures.flatMap(({ task, reason }) =>
      task.parties.map(({ partyId }): ScreeningResult => ({ partyId, outcome: 'failed', responseId: null, reason })),
    );
    await saveScreeningResults(transaction, session.run.runId, batchId, results);
  });
}
