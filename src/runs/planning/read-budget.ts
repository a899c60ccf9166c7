import { type BudgetLeft, toBudgetLeft } from '../../screening/to-budget-left.js';
import type { Queryable } from '../../store/database/database.js';
import { readBudgetUsage } from '../../store/ledger.js';
import type { RunSettings } from '../workplace.js';

/** Whether the settings cap anything. */
export const hasCaps = ({ budget }: Pick<RunSettings, 'budget'>): boolean =>
  (budget.maxSearchesPerRun ?? budget.maxSearchesPerDay ?? budget.maxSearchesPerMonth) !== undefined;

/**
 * What may still be spent on the account, counted from the ledger over all rosters and runs; the cap per run counts the calls of `runId`,
 * or is whole without one. Without any cap nothing is counted.
 */
export async function readBudget(
  database: Queryable,
  accountId: number | null,
  now: Date,
  settings: Pick<RunSettings, 'budget' | 'run'>,
  runId: number | null = null,
): Promise<BudgetLeft> {
  const isCounted = accountId !== null && hasCaps(settings);
  const used = isCounted
    ? await readBudgetUsage(database, accountId, now, settings.run.timezone, runId)
    : { run: 0, day: 0, month: 0 };
  return toBudgetLeft(settings.budget, used);
}
