import { z } from 'zod';

const share = z.number().min(0).max(1);

/** When a snapshot is held before anything of it counts; shares of 1. */
export const guardsSchema = z.strictObject({
  maxRejectShare: share.default(0.005).describe('rejected rows of all rows'),
  maxRejectedRows: z
    .int()
    .min(0)
    .default(5)
    .describe(
      'so many rejected rows are let through whatever their share is: a tenth of a small roster may be one row',
    ),
  maxShrinkNight: share.default(0.01).describe('customers of the last snapshot that this one does not show any more'),
  maxShrink30Days: share.default(0.03).describe('customers fewer than in the largest snapshot of the last 30 days'),
  maxMissingCustomers: z
    .int()
    .min(0)
    .default(5)
    .describe(
      'so many missing customers are let through whatever their share is, as long as they are not two or more and over half of all',
    ),
  maxGrowth: z
    .number()
    .min(0)
    .default(0.5)
    .describe('new customers beside those of the last snapshot; 0.5 is half as many again'),
  growthFromCustomers: z.int().min(0).default(1_000).describe('a roster of fewer customers may grow as it likes'),
  maxDuplicateShare: share.default(0.05).describe('rows that repeat another one, of all rows'),
  maxDuplicateRows: z.int().min(0).default(5).describe('so many repetitions are let through whatever their share is'),
  columns: z
    .boolean()
    .default(true)
    .describe('whether a column that is missing or new since the last snapshot holds the roster'),
});
/** The `guards` of a roster with their defaults filled in. */
export type GuardSettings = z.output<typeof guardsSchema>;
