import { z } from 'zod';
import { severities } from '../../changes/change-event.js';
import { isTimezone } from '../../clock.js';

const severity = z.enum(severities);

/** When reviewers work, which decisions need two of them, and how long decisions hold. */
export const reviewSettingsSchema = z.strictObject({
  timezone: z.string().refine(isTimezone, 'is no IANA time zone').default('UTC'),
  /** 1 for Monday to 7 for Sunday. */
  workdays: z.array(z.int().min(1).max(7)).min(1).default([1, 2, 3, 4, 5]),
  holidays: z.array(z.iso.date()).default([]),
  /** Severities of which nobody decides alone that a match is, or is not, the customer. */
  fourEyes: z.array(severity).default([]),
  /** In days; a decision about an item of any other severity never runs out. */
  expiresAfterDays: z.partialRecord(severity, z.int().min(1).max(3_650)).default({}),
});
export type ReviewSettings = z.infer<typeof reviewSettingsSchema>;
