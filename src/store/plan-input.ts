import type { TierDue } from '../screening/cadence.js';

/** Which parties a run asks about: those due, those never screened as they are now, all, only those noted as forced, or these with nobody else in the run. */
export type PlanSelection = 'due' | 'new' | 'all' | 'forced' | 'dirty';

/**
 * Why a party is asked about, in the order in which searches of equal risk are made. Those that failed last time come after those that are
 * overdue: what fails every night must not take every night's budget.
 */
export const planReasons = ['new', 'changed', 'forced', 'overdue', 'previously_failed', 'cadence'] as const;

/** Whose answers may be used again in place of a search. */
export interface ReuseInput {
  /** Only answers that came after this. */
  answeredAfter: Date;
  /** Only answers under the settings in force. */
  settingsDigest: string;
}

/** How many searches a plan may make. */
export interface PlanAllowance {
  /** For everybody. */
  general: number;
  /** Beside that for requests of customers that were never screened. */
  reserved: number;
}

/** What the plan of a run depends on. */
export interface PlanInput {
  /** The run whose forced screenings count; null for none. */
  runId: number | null;
  rosterId: number;
  /** Null: the account is not known yet, so nothing counts as screened. */
  accountId: number | null;
  selection: PlanSelection;
  tiers: readonly TierDue[];
  /** Customers absent from all accepted snapshots of so many days have left; an open hit, or what else waits for a decision, keeps them. */
  leaveAfterDays: number;
  /** Runs that were left before their end: what remains of their plans is asked about whatever is selected. */
  leftRuns: readonly number[];
  /** Null: nothing is used again. */
  reuse: ReuseInput | null;
  /** Null: nothing limits the plan. */
  allowance: PlanAllowance | null;
}
