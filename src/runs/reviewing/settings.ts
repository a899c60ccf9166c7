import { z } from 'zod';
import { isTimezone } from '../../clock.js';

/** When reviewers work: due dates count their days. */
export const reviewSettingsSchema = z.strictObject({
  timezone: z.string().refine(isTimezone, 'is no IANA time zone').default('UTC'),
  /** 1 for Monday to 7 for Sunday. */
  workdays: z.array(z.int().min(1).max(7)).min(1).default([1, 2, 3, 4, 5]),
  holidays: z.array(z.iso.date()).default([]),
});
export type ReviewSettings = z.infer<typeof reviewSettingsSchema>;
