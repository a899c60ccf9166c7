import type { RunState } from '../../reports/run-facts.js';
import { failOpenCheck, readCheck, type StoredCheck } from '../../store/checks.js';
import type { Queryable } from '../../store/database/database.js';
import { closeRun, readRun } from '../../store/runs.js';
import { addUpSearches } from './add-up-searches.js';
import { describeControls, judgeControls } from './judge-controls.js';

/** Why a check came to no answer: a stable code, and words. */
export interface CheckFailure {
  code: string;
  message: string;
}

/**
 * Closes the run of a check: complete with a valid answer that nothing throws doubt on, else incomplete. A check is asked again rather than
 * resumed.
 */
export async function endCheck(
  transaction: Queryable,
  runId: number,
  failure: CheckFailure | null,
  finishedAt: Date,
): Promise<{ state: RunState; reasons: readonly string[] }> {
  if (failure) await failOpenCheck(transaction, runId, failure.code, finishedAt);
  const check = await readCheck(transaction, runId);
  const responseIds = check?.responseId ? [check.responseId] : [];
  const sums = await addUpSearches(transaction, runId, { made: 1, responseIds });
  const reasons =
    responseIds.length > 0
      ? await findDoubts(transaction, runId, check)
      : [failure?.message ?? `the service gave no valid answer: ${check?.outcomeReason ?? 'unknown'}`];
  const state = reasons.length === 0 ? 'complete' : 'incomplete';
  await closeRun(transaction, runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums });
  return { state, reasons };
}

/** With a live key no hit says little unless control searches have shown lately that the service finds whom it must find. */
async function findDoubts(
  transaction: Queryable,
  runId: number,
  check: StoredCheck | null,
): Promise<readonly string[]> {
  const run = await readRun(transaction, runId);
  if (run?.mode !== 'live' || check?.verdict === 'open_hit') return [];
  const controls = await judgeControls(transaction, run.accountId, check?.endedAt ?? run.startedAt);
  if (controls.verdict === 'hold') return [];
  return [
    `nothing shows that the service would have found a listed party: control searches: ${describeControls(controls)}`,
  ];
}
