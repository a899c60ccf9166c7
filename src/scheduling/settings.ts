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
  cron: cronSchema
    .meta({ title: 'cron expression' })
    .optional()
    .describe('when it starts: minute, hour, day of the month, month, day of the week'),
  timezone: timezoneSchema
    .meta({ title: 'time zone' })
    .optional()
    .describe('the IANA time zone of `cron`; UTC without it'),
  enabled: z.boolean().default(true).describe('false leaves the job out'),
});

/** Schedules by job name; a job that is not named keeps its own default. */
export const jobsSettingsSchema = z.strictObject({
  rescreen: jobSettingsSchema.optional().describe('every roster: import, screen who is due, report and mail'),
  sweep: jobSettingsSchema.optional().describe('read all dossiers and store what changed'),
  report: jobSettingsSchema.optional().describe('mail the reports that nobody has been sent yet'),
  onboard: jobSettingsSchema.optional().describe('every roster: import, screen who was never screened, report'),
  mail: jobSettingsSchema.optional().describe('try again what waits in the outbox'),
});
export type JobsSettings = z.infer<typeof jobsSettingsSchema>;
