import { validateDetailed } from 'node-cron';
import { z } from 'zod';
import { isTimezone } from '../clock.js';

const cronSchema = z.string().superRefine((expression, context) => {
  for (const error of validateDetailed(expression).errors) {
    const reason = error.field === 'expression' ? error.message : `its ${error.field} is wrong`;
    context.addIssue({ code: 'custom', message: `is no cron expression: ${reason}` });
  }
});

const timezoneSchema = z.string().refine(isTimezone, {
  error: 'is no IANA time zone, such as Europe/Copenhagen or UTC',
});

/** When a job starts: a cron expression read in an IANA time zone; `enabled: false` leaves the job out. */
const jobSettingsSchema = z.strictObject({
  cron: cronSchema.optional(),
  timezone: timezoneSchema.optional(),
  enabled: z.boolean().default(true),
});

/** Schedules by job name; a job that is not named keeps its own default. */
export const jobsSettingsSchema = z.strictObject({
  rescreen: jobSettingsSchema.optional(),
  sweep: jobSettingsSchema.optional(),
  report: jobSettingsSchema.optional(),
  onboard: jobSettingsSchema.optional(),
  mail: jobSettingsSchema.optional(),
});
export type JobsSettings = z.infer<typeof jobsSettingsSchema>;
