import { z } from 'zod';

const cap = z.number().int().positive();

/** What may be spent on searches; every cap counts the calls that the service may have billed, over all rosters of the account. */
export const budgetSettingsSchema = z.strictObject({
  /** Calls of one run, its repeats and control searches included. */
  maxSearchesPerRun: cap.optional(),
  /** Calls of one day in `run.timezone`. */
  maxSearchesPerDay: cap.optional(),
  /** Calls of one calendar month in `run.timezone`; a live key is refused without it. */
  maxSearchesPerMonth: cap.optional(),
  /** Price of one search, for the cost of a plan; a live key is refused without it. */
  pricePerSearch: z.number().nonnegative().optional(),
  /** The currency of the price, as ISO 4217 names it. */
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency such as EUR')
    .default('EUR'),
  /** The share of each cap that is kept for new customers, single checks and control searches. */
  reserveShare: z.number().min(0).max(0.5).default(0.05),
});
export type BudgetSettings = z.output<typeof budgetSettingsSchema>;
