import { z } from 'zod';

const cap = z.number().int().positive();

/** What may be spent on searches; every cap counts the calls that the service may have billed, over all rosters of the account. */
export const budgetSettingsSchema = z.strictObject({
  maxSearchesPerRun: cap.optional().describe('calls of one run, resumed or not, repeats and control searches included'),
  maxSearchesPerDay: cap.optional().describe('calls of one day in `run.timezone`'),
  maxSearchesPerMonth: cap
    .optional()
    .describe('calls of one calendar month in `run.timezone`; a live key is refused without it'),
  pricePerSearch: z
    .number()
    .nonnegative()
    .optional()
    .describe('price of one search, for the cost of a plan; a live key is refused without it'),
  pricePerEmail: z
    .number()
    .nonnegative()
    .optional()
    .describe('price of one invitation or reminder by e-mail; a live key sends none without it'),
  pricePerSms: z
    .number()
    .nonnegative()
    .optional()
    .describe('price of one invitation or reminder by SMS; a live key sends none without it'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency such as EUR')
    .default('EUR')
    .describe('currency of the prices, as ISO 4217 names it'),
  reserveShare: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.05)
    .describe('share of each cap that is kept for control searches, new customers and single checks'),
});
export type BudgetSettings = z.output<typeof budgetSettingsSchema>;
