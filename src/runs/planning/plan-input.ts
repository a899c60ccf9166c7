import { toDurationMs } from '../../roster/duration.js';
import { type BudgetLeft, toPlanAllowance } from '../../screening/to-budget-left.js';
import type { Queryable } from '../../store/database/database.js';
import type { PlanInput, PlanSelection } from '../../store/plan.js';
import type { ReuseInput } from '../../store/plan-sql.js';
import { findLeftRuns } from '../../store/runs.js';
import { countCanarySearches } from '../canaries/count-canary-searches.js';
import type { RunSettings, Workplace } from '../workplace.js';
import { listDues } from './list-dues.js';
import { readBudget } from './read-budget.js';

/** What a plan is made for. */
export interface PlanRequest {
  rosterId: number;
  /** Null: the account is not known yet, so nothing counts as screened or used. */
  accountId: number | null;
  selection: PlanSelection;
}

/** How many control searches come with so many searches under the settings. */
export const expectControlSearches = ({ canaries, screening }: RunSettings, searches: number): number =>
  canaries.length === 0 ? 0 : countCanarySearches(searches, canaries.length, screening.canariesEvery);

/** Who is asked about at this moment under the settings, within what is left of the budget; `runId` is the run whose plan it is. */
export async function toPlanInput(
  workplace: Pick<Workplace, 'clock' | 'settings' | 'settingsDigest' | 'nextRescreening'>,
  database: Queryable,
  request: PlanRequest,
  runId: number | null,
): Promise<{ input: PlanInput; budget: BudgetLeft }> {
  const { clock, settings, settingsDigest } = workplace;
  const { screening } = settings;
  const now = clock.now();
  const reuse = toReuseInput(settings, settingsDigest, now);
  const budget = await readBudget(database, request.accountId, now, settings, runId);
  const input: PlanInput = {
    ...request,
    runId,
    tiers: listDues(workplace, now),
    leaveAfterDays: screening.leaveAfterDays,
    leftRuns: request.selection === 'dirty' ? [] : await findLeftRuns(database, request, runId),
    // Whoever asks about everybody wants to hear it from the service.
    reuse: request.selection === 'all' ? null : reuse,
    allowance: toPlanAllowance(budget, expectControlSearches(settings, budget.leftForAll)),
  };
  return { input, budget };
}

/** Which answers may be used again at this moment; null for none. */
export function toReuseInput({ screening }: RunSettings, settingsDigest: string, now: Date): ReuseInput | null {
  const maxAgeMs = screening.reuseMaxAge === 0 ? 0 : toDurationMs(screening.reuseMaxAge);
  return maxAgeMs === 0 ? null : { answeredAfter: new Date(now.getTime() - maxAgeMs), settingsDigest };
}
