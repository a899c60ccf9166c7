import { z } from 'zod';
import { severities } from '../../vocabulary.js';

const severity = z.enum(severities);

/** The reviewers' calendar, the alerts that two people release, and the expiry of decisions. */
export const reviewSettingsSchema = z.strictObject({
  workdays: z
    .array(z.int().min(1).max(7))
    .min(1)
    .default([1, 2, 3, 4, 5])
    .describe('business days, 1 for Monday to 7 for Sunday'),
  holidays: z.array(z.iso.date()).default([]).describe('days that are not business days, as yyyy-mm-dd'),
  fourEyes: z
    .array(severity)
    .default([])
    .describe(
      'severities whose alerts take two people to release; with any of them also every sanctions alert and true match; only with DATABASE_URL',
    ),
  expiresAfterDays: z
    .partialRecord(severity, z.int().min(1).max(3_650))
    .default({})
    .describe('days until a disposition expires, by severity; dispositions of other severities never expire'),
  autoClose: z
    .boolean()
    .default(false)
    .describe(
      'closes undecided alerts of political exposure or less whose match was absent for seven days and three complete answers. A named person must accept this policy',
    ),
});
export type ReviewSettings = z.infer<typeof reviewSettingsSchema>;

const autoClosing = z.object({ review: z.object({ autoClose: z.literal(true) }) });

/** Whether accepted settings close alerts by policy. */
export const isAutoClosing = (accepted: { settings: unknown } | null): boolean =>
  accepted !== null && autoClosing.safeParse(accepted.settings).success;
