import { z } from 'zod';
import { isTimezone } from '../../clock.js';
import { severities } from '../../vocabulary.js';

const severity = z.enum(severities);

/** When reviewers work, which alerts take two of them to release, and how long decisions hold. */
export const reviewSettingsSchema = z.strictObject({
  timezone: z
    .string()
    .refine(isTimezone, 'is no IANA time zone')
    .meta({ title: 'time zone' })
    .default('UTC')
    .describe('the IANA time zone whose clock due dates follow'),
  workdays: z
    .array(z.int().min(1).max(7))
    .min(1)
    .default([1, 2, 3, 4, 5])
    .describe('business days, 1 for Monday to 7 for Sunday'),
  holidays: z.array(z.iso.date()).default([]).describe('days that are none all the same, as yyyy-mm-dd'),
  fourEyes: z
    .array(severity)
    .default([])
    .describe(
      'severities whose alerts take two people to release, and with any of them every sanctions alert and true match; only with DATABASE_URL',
    ),
  expiresAfterDays: z
    .partialRecord(severity, z.int().min(1).max(3_650))
    .default({})
    .describe('how long a decision holds, in days by severity; of any other severity it never runs out'),
  autoClose: z
    .boolean()
    .default(false)
    .describe(
      'closes undecided alerts of political exposure and less whose match has been absent for seven days and three whole answers; a named person accepts it',
    ),
});
export type ReviewSettings = z.infer<typeof reviewSettingsSchema>;
