import { listTierDues, toCadence } from '../../screening/cadence.js';
import { type CoverageGroup, readCoverage } from '../../store/coverage.js';
import { findLastAccount } from '../../store/organisations.js';
import type { PlanInput } from '../../store/plan-sql.js';
import type { Workplace } from '../workplace.js';

/** What coverage of a roster is judged by at a moment: the account that its last run used, and when each tier is due. */
export async function toCoverageInput(
  { database, settings }: Pick<Workplace, 'database' | 'settings'>,
  rosterId: number,
  now: Date,
): Promise<PlanInput> {
  return {
    runId: null,
    rosterId,
    accountId: (await findLastAccount(database, rosterId, settings.service.mode))?.accountId ?? null,
    selection: 'due',
    tiers: listTierDues(toCadence(settings.screening), now),
    leaveAfterDays: settings.screening.leaveAfterDays,
    leftRuns: [],
    reuse: null,
    allowance: null,
  };
}

/** The customers in scope of a roster, counted by tier, standing, state and last failure; and the account that they are judged on. */
export async function readRosterGroups(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  rosterId: number,
  now: Date,
): Promise<{ accountId: number | null; groups: readonly CoverageGroup[] }> {
  const input = await toCoverageInput(workplace, rosterId, now);
  return { accountId: input.accountId, groups: await readCoverage(workplace.database, input) };
}
