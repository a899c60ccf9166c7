import type { RosterSettings } from '../../roster/settings.js';
import { findLastAccount } from '../../store/organisations.js';
import { countPlan, listUrgentOverBudget, type PlanCounts, type PlanSelection } from '../../store/plan.js';
import { openImportedRoster } from '../rosters/roster-scope.js';
import type { Workplace } from '../workplace.js';
import { toPlanInput } from './plan-input.js';
import { type PricedCalls, priceCalls } from './price-calls.js';

/** What a run of this selection would do now, without storing or calling anything. */
export interface ScreeningPreview extends PlanCounts, PricedCalls {
  roster: string;
  selection: PlanSelection;
  /** References of customers whom the budget leaves out although they are overdue or were never screened as they are; the first 100. */
  leftOut: readonly string[];
  /** Calls that the caps leave, or null where nothing is capped. */
  budget: { leftForAll: number; leftForReserved: number } | null;
}

const mostLeftOut = 100;

/** The plan of a screening as it would be made now from the roster as last imported; the account is the one last used. `runId` is a run whose forced screenings count. */
export async function previewScreening(
  workplace: Workplace,
  roster: RosterSettings,
  selection: PlanSelection,
  runId: number | null = null,
): Promise<ScreeningPreview> {
  const { database, settings } = workplace;
  const { rosterId } = await openImportedRoster(workplace, roster.name);
  const account = await findLastAccount(database, rosterId, settings.service.mode ?? 'test');
  const request = { rosterId, accountId: account?.accountId ?? null, selection };
  const { input, budget } = await toPlanInput(workplace, database, request, runId);
  const counts = await countPlan(database, input);
  const { leftForAll, leftForReserved } = budget;
  return {
    roster: roster.name,
    selection,
    ...counts,
    ...priceCalls(settings, counts.searches),
    leftOut: 'over_budget' in counts.reasons ? await listUrgentOverBudget(database, input, mostLeftOut) : [],
    budget: leftForReserved === Number.POSITIVE_INFINITY ? null : { leftForAll, leftForReserved },
  };
}
