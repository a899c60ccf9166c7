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
  maxDoubtShare: share
    .default(0.2)
    .describe(
      'values of a column that are in doubt, of all that it has; those that say themselves that they are not known aside',
    ),
  maxDoubtRows: z.int().min(0).default(5).describe('so many values in doubt are let through whatever their share is'),
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
  maxChangedShare: share
    .default(0.01)
    .describe(
      'known customers with another name, type, birth date or party, or with a value less; three times as many within seven days. Case, accents and the order of words do not count, nor do columns that are not screened',
    ),
  maxChangedCustomers: z
    .int()
    .min(0)
    .default(20)
    .describe(
      'so many changed customers are let through whatever their share is; three times as many within seven days',
    ),
  maxChangedCountriesShare: share
    .default(0.05)
    .describe('known customers with other countries; three times as many within seven days'),
  maxChangedAlertsShare: share.default(0.05).describe('changed customers of those with an alert or a decision'),
  maxChangedAlertsCustomers: z
    .int()
    .min(0)
    .default(4)
    .describe('so many changed customers with an alert or a decision are let through whatever their share is'),
  shapes: z
    .boolean()
    .default(true)
    .describe(
      'whether changes that look like a mistake hold the roster, such as names that are moved against the ids or cut at a fixed length',
    ),
});
/** The `guards` of a roster with their defaults filled in. */
export type GuardSettings = z.output<typeof guardsSchema>;
