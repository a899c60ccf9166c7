import { z } from 'zod';

/**
 * What the settings leave of a budget when the account was called so often, where the service may have billed it: the least that any cap leaves, in
 * calls; Infinity without a cap. `leftForAll` leaves alone the part of each cap that is kept (`reserve`) for new customers, single checks and control
 * searches, who have `leftForReserved`.
 */
export function toBudgetLeft(
  settings: z.output<typeof budgetSettingsSchema>,
  used: Readonly<Record<'run' | 'day' | 'month', number>>,
) {
  const { maxSearchesPerRun, maxSearchesPerDay, maxSearchesPerMonth, reserveShare } = settings;
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
 * How many searches a plan may make when so many control searches come with it: those are taken out of the reserve first, and what is left
 * of it may go to new customers beside what is there for all. Null when nothing limits it.
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
