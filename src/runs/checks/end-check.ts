import type { RunState } from '../../reports/run-facts.js';
import type { Queryable } from '../../store/database.js';
import { closeRun } from '../../store/runs.js';
import { failOpenCheck, readCheck } from '../../store/single-checks.js';
import { addUpSearches } from './add-up-searches.js';

/** Why a check came to no answer: a stable code, and words. */
export interface CheckFailure {
  code: string;
  message: string;
}

/** Closes the run of a check: complete with a valid answer, else incomplete. A check is asked again rather than resumed. */
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
  const state = responseIds.length > 0 ? 'complete' : 'incomplete';
  const reasons =
    state === 'complete'
      ? []
      : [failure?.message ?? `the service gave no valid answer: ${check?.outcomeReason ?? 'unknown'}`];
  await closeRun(transaction, runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums });
  return { state, reasons };
}
