import { z } from 'zod';

const share = z.number().min(0).max(1);

/** When a snapshot is held before anything of it counts; shares of 1. */
export const guardsSchema = z.strictObject({
  /** Rejected rows of all rows. */
  maxRejectShare: share.default(0.005),
  /** So many rejected rows are let through whatever their share is: a tenth of a small roster may be one row. */
  maxRejectedRows: z.int().min(0).default(5),
  /** Customers of the last snapshot that this one does not show any more. */
  maxShrinkNight: share.default(0.01),
  /** Customers fewer than in the largest snapshot of the last 30 days. */
  maxShrink30Days: share.default(0.03),
  /** So many missing customers are let through whatever their share is, as long as they are not two or more and over half of all. */
  maxMissingCustomers: z.int().min(0).default(5),
  /** New customers beside those of the last snapshot; 0.5 is half as many again. */
  maxGrowth: z.number().min(0).default(0.5),
  /** A roster of fewer customers may grow as it likes. */
  growthFromCustomers: z.int().min(0).default(1_000),
  /** Rows that repeat another one, of all rows. */
  maxDuplicateShare: share.default(0.05),
  /** So many repetitions are let through whatever their share is. */
  maxDuplicateRows: z.int().min(0).default(5),
  /** Whether a column that is missing or new since the last snapshot holds the roster. */
  columns: z.boolean().default(true),
});
/** The `guards` of a roster with their defaults filled in. */
export type GuardSettings = z.output<typeof guardsSchema>;
