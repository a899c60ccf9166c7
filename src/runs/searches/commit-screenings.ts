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
    const now = session.workplace.clock.now();
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
    const { events, states } = await judgeAnswers(transaction, session, account, { answered, known });
    await Promise.all([
      saveChangeEvents(transaction, runId, batchId, events),
      savePartyStates(transaction, { accountId: account.accountId, runId, screenedAt: now }, states),
      saveScreeningResults(transaction, runId, batchId, [
        ...states.map(
          ({ partyId, responseId }): ScreeningResult => ({ partyId, outcome: 'screened', responseId, reason: null }),
        ),
        ...finished.flatMap(toFailures),
      ]),
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
    const responseId = ids.get(digest);
    return responseId === undefined ? [] : [{ task, responseId, matchSet }];
  });
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

/** What answers change for their parties, each compared with its own last state on the account. */
export async function judgeAnswers(
  transaction: Queryable,
  session: RunSession,
  account: WatchedAccount,
  { answered, known }: { answered: readonly AnsweredTask[]; known: ReadonlyMap<number, PartyStateRow> },
): Promise<{ events: NewChangeEvent[]; states: NewPartyState[] }> {
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
    const isSame = isSameAnswer(answer);
    const { changes, ...next } = isSame
      ? { changes: [], reportedScores: {}, unreturned: [], ...answer.known }
      : detectChanges(toKnownAnswer(answer.known, knownSets), matchSet, party, settings.changes);
    const { partyId, customerVersion } = party;
    events.push(...changes.map((change) => ({ partyId, customerVersion, change })));
    const { reportedScores, unreturned } = next;
    const state = { ...party, reportedScores, unreturned, state: toPartyState(matchSet, unreturned) };
    states.push({ ...state, isKnown: isSame && isSameState(state, answer.known) });
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

/** Whether a party's state says of the same answer what the stored one says. */
const isSameState = (next: PartyStateRow, known: PartyStateRow | undefined): boolean =>
  known !== undefined &&
  next.requestId === known.requestId &&
  next.customerVersion === known.customerVersion &&
  next.settingsDigest === known.settingsDigest &&
  next.state === known.state;

function toKnownAnswer(state: PartyStateRow | undefined, matchSets: ReadonlyMap<number, MatchSet>): KnownAnswer | null {
  const matchSet = state && matchSets.get(state.responseId);
  if (!state || !matchSet) return null;
  const { reportedScores, unreturned } = state;
  return { matches: matchSet.matches, reportedScores, unreturned, origin: state };
}

function toFailures({ task, outcome, isMadeAgain }: FinishedSearch): readonly ScreeningResult[] {
  if (outcome.kind !== 'failed' || outcome.isTransient || isMadeAgain) return [];
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
