import { toMatchSet } from '../../matches/to-match-set.js';
import type { ScreeningOutcome } from '../../screening/screen.js';
import { saveChangeEvents } from '../../store/changes.js';
import { type Queryable, requireFound } from '../../store/database/database.js';
import { insertCommitBatch, type SearchAttempts, saveAttempts } from '../../store/ledger.js';
import { saveResponses } from '../../store/responses.js';
import {
  type PartyStateRow,
  readPartyStates,
  type ScreeningResult,
  type SearchTask,
  savePartyStates,
  saveScreeningResults,
} from '../../store/screenings.js';
import { digestAnswer } from '../ledger/digest-answer.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';
import { type AnsweredTask, judgeAnswers } from './judge-answers.js';

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
