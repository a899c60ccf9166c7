import { saveChangeEvents } from '../../store/changes.js';
import { requireFound } from '../../store/database/database.js';
import { insertCommitBatch } from '../../store/ledger.js';
import { dateReusedStates, type ReusableScreening, readReusable } from '../../store/plan.js';
import { readMatchSets } from '../../store/responses.js';
import { type ScreeningResult, savePartyStates, saveScreeningResults } from '../../store/screenings.js';
import { readKnownStates } from '../searches/commit-screenings.js';
import { judgeAnswers } from '../searches/judge-answers.js';
import { toSignalHalt } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';
import { listDues } from './list-dues.js';
import { toReuseInput } from './plan-input.js';

const chunkSize = 256;

/**
 * Stage: gives the parties whose requests have been answered already their outcome, without a search: their changes are found against their
 * own last state. An answer that has grown too old since the plan was made, or is not the newest one any more, is left to be searched for.
 * Throws RunHalted when somebody asks to stop.
 */
export async function reuseAnswers(session: RunSession, account: WatchedAccount): Promise<void> {
  const { workplace, run, signal } = session;
  const { clock, database, settings, settingsDigest } = workplace;
  const now = clock.now();
  const reuse = toReuseInput(settings, settingsDigest, now);
  if (reuse === null) return;
  const tiers = listDues(workplace, now);
  const ours = { runId: run.runId, accountId: account.accountId };
  for await (const chunk of readReusable(database, ours, { reuse, tiers }, chunkSize)) {
    if (signal.aborted) throw toSignalHalt(signal);
    await commitReuse(session, account, chunk);
  }
}

async function commitReuse(
  session: RunSession,
  account: WatchedAccount,
  reusable: readonly ReusableScreening[],
): Promise<void> {
  const { runId } = session.run;
  const { accountId } = account;
  await session.write(async (transaction) => {
    const now = session.workplace.clock.now();
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
    const { events, states } = await judgeAnswers(transaction, session, account, { answered, known });
    await saveChangeEvents(transaction, runId, batchId, events);
    await savePartyStates(transaction, { accountId, runId, screenedAt: now }, states);
    const partyIds = states.map(({ partyId }) => partyId);
    await dateReusedStates(transaction, { accountId, runId }, partyIds);
    const results = states.map(
      ({ partyId, responseId }): ScreeningResult => ({ partyId, outcome: 'reused', responseId, reason: null }),
    );
    await saveScreeningResults(transaction, runId, batchId, results);
  });
}
