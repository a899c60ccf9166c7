import { z } from 'zod';

const usualReserveShare = 0.05;

/**
 * The rest of a budget after the calls of an account that the service may have billed: the smallest rest of all caps, in calls; Infinity
 * without a cap. `leftForAll` excludes the reserve of each cap for new customers, single checks and control searches, who have
 * `leftForReserved`.
 */
export function toBudgetLeft(settings: BudgetSettings, used: Readonly<Record<'run' | 'day' | 'month', number>>) {
  const { maxSearchesPerRun, maxSearchesPerDay, maxSearchesPerMonth, reserveShare = usualReserveShare } = settings;
  const caps = (
    [
      ['run', maxSearchesPerRun],
      ['day', maxSearchesPerDay],
      ['month', maxSearchesPerMonth],
    ] as const
  ).flatMap(([per, cap]) =>
    cap === undefined ? [] : [{ per, cap, used: used[per], reserve: cap - Math.floor(cap * (1 - reserveShare)) }],
  );
  return {
    leftForAll: Math.min(...caps.map(({ cap, used, reserve }) => Math.max(0, cap - reserve - used))),
    leftForReserved: Math.min(...caps.map(({ cap, used }) => Math.max(0, cap - used))),
    caps,
  };
}

/**
 * The number of searches for a plan with so many control searches. Those use the reserve first; the rest of it is for new customers, in
 * addition to the general part. Null without a limit.
 */
export function toPlanAllowance(
  { leftForAll, leftForReserved }: Pick<ReturnType<typeof toBudgetLeft>, 'leftForAll' | 'leftForReserved'>,
  controlSearches: number,
): { general: number; reserved: number } | null {
  if (leftForReserved === Number.POSITIVE_INFINITY) return null;
  const reserve = leftForReserved - leftForAll;
  return {
    general: Math.max(0, leftForAll - Math.max(0, controlSearches - reserve)),
    reserved: Math.max(0, reserve - controlSearches),
  };
}

const cap = z.number().int().positive();

/** The budget of searches; each cap counts the calls that the service may have billed, over all rosters of the account. */
export const budgetSettingsSchema = z.strictObject({
  maxSearchesPerRun: cap.optional().describe('calls of one run, resumed or not, repeats and control searches included'),
  maxSearchesPerDay: cap.optional().describe('calls of one day in `timezone`'),
  maxSearchesPerMonth: cap
    .optional()
    .describe('calls of one calendar month in `timezone`; a live key is refused without it'),
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
});
/** The budget; `reserveShare` is the part of each cap for control searches, new customers and single checks, where it is not the usual one. */
export type BudgetSettings = z.output<typeof budgetSettingsSchema> & { reserveShare?: number };
