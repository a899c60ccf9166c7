import type { RosterSettings } from '../../roster/settings.js';
import { findLastAccount } from '../../store/organisations.js';
import { countPlan, type PlanSelection } from '../../store/screening-plan.js';
import { openImportedRoster } from '../rosters/roster-scope.js';
import type { Workplace } from '../workplace.js';
import { toPlanInput } from './plan-screenings.js';

/** What a run of this selection would do now, without storing or calling anything. */
export interface ScreeningPreview {
  roster: string;
  inScope: number;
  planned: number;
  /** Customers by reason to plan or to skip them. */
  reasons: Readonly<Record<string, number>>;
  searches: number;
  minutes: number;
}

/** The plan of a screening as it would be made now from the roster as last imported; the account is the one last used. */
export async function previewScreening(
  workplace: Workplace,
  roster: RosterSettings,
  selection: PlanSelection,
): Promise<ScreeningPreview> {
  const { rosterId } = await openImportedRoster(workplace, roster.name);
  const account = await findLastAccount(workplace.database, rosterId, workplace.settings.service.mode ?? 'test');
  const input = toPlanInput(workplace, rosterId, account?.accountId ?? null, selection);
  const { inScope, planned, reasons, searches } = await countPlan(workplace.database, input);
  const minutes = Math.ceil(searches / workplace.settings.service.rate.perSecond / 6) / 10;
  return { roster: roster.name, inScope, planned, reasons, searches, minutes };
}
