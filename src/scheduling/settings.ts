import { validateDetailed } from 'node-cron';
import { z } from 'zod';
import { isTimezone } from '../clock.js';
import { durationSchema, toDurationMs } from '../roster/duration.js';

const cronSchema = z.string().superRefine((expression, context) => {
  for (const error of validateDetailed(expression).errors) {
    const reason = error.field === 'expression' ? error.message : `its ${error.field} is wrong`;
    context.addIssue({ code: 'custom', message: `is not a cron expression: ${reason}` });
  }
});

const timezoneSchema = z.string().refine(isTimezone, {
  error: 'is not an IANA time zone, such as Europe/Copenhagen or UTC',
});

/** A cron expression and the IANA time zone in which it is read. */
export const jobScheduleSchema = z.strictObject({ cron: cronSchema, timezone: timezoneSchema.default('UTC') });

const spanPattern = /^\d{1,6}(s|m|h|d)$/;
const spanSchema = z.string().regex(spanPattern, 'must be a span such as 30s, 10m, 6h or 7d').meta({ title: 'span' });

/** How long one attempt of a job may last: from a second to twenty days, the range of the platform's timers. */
export const timeoutSchema = spanSchema.refine((span) => toSpanMs(span) >= 1_000 && toSpanMs(span) <= 20 * 86_400_000, {
  error: 'must be from 1s to 20d',
});

/** When a job starts: a cron expression in an IANA time zone; `enabled: false` disables it. */
const jobSettingsSchema = z.strictObject({
  cron: cronSchema
    .meta({ title: 'cron expression' })
    .optional()
    .describe('when it starts: minute, hour, day of the month, month, day of the week'),
  timezone: timezoneSchema
    .meta({ title: 'time zone' })
    .optional()
    .describe('the IANA time zone of `cron`; UTC without it'),
  timeout: timeoutSchema
    .optional()
    .describe(
      'how long one attempt may last before it is stopped: without it 12h for rescreen, sweep and onboard, 1h for every other job',
    ),
  enabled: z.boolean().default(true).describe('false disables the job'),
});

/** Schedules by job name; a job that is not named keeps its default. Other names belong to the jobs in `scheduler.jobsFolder`. */
export const jobsSettingsSchema = z
  .object({
    rescreen: jobSettingsSchema.optional().describe('every roster: import, screen who is due, report and mail'),
    sweep: jobSettingsSchema.optional().describe('read all dossiers and store what changed'),
    report: jobSettingsSchema.optional().describe('mail the reports that were not sent yet'),
    reconcile: jobSettingsSchema
      .optional()
      .describe('compare rosters with dossiers again; every rescreening does that itself when a roster has dossiers'),
    onboard: jobSettingsSchema
      .optional()
      .describe('every roster: import, screen customers that were never screened, report'),
    dirty: jobSettingsSchema
      .optional()
      .describe('look up the dossiers, and search the customers, that events have marked'),
    mail: jobSettingsSchema.optional().describe('send what waits in the outbox'),
  })
  .catchall(jobSettingsSchema.describe('a job of your own, by the name of its file'));
export type JobsSettings = z.infer<typeof jobsSettingsSchema>;

/** Settings of the scheduler for all jobs. */
export const schedulerSettingsSchema = z.strictObject({
  jobsFolder: z.string().min(1).optional().describe('the folder of jobs of your own, one .mjs file each'),
  jitter: spanSchema
    .refine((span) => toSpanMs(span) <= 12 * 3_600_000, 'must be 12h at most')
    .default('0s')
    .describe(
      'jobs at fixed times of a date start later by up to this, each date by another span, the same on every host',
    ),
  catchUp: z
    .union([z.literal('off'), spanSchema], { error: 'must be a span such as 7d, or off' })
    .default('7d')
    .describe(
      'how long after its time a job still starts when no scheduler was there to start it: the newest time, once; off for never',
    ),
  waitAtMost: spanSchema
    .default('6h')
    .describe('how long a job waits for the jobs of the same date that must end before it'),
});
/** The `scheduler` settings with their defaults filled in. */
export type SchedulerSettings = z.output<typeof schedulerSettingsSchema>;

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a span in these settings; 0 for `off`. */
export function toSpanMs(span: string): number {
  return span === 'off' ? 0 : Number.parseInt(span, 10) * (unitMs[span.slice(-1)] ?? 0);
}

const positiveDurationSchema = durationSchema.refine((duration) => toDurationMs(duration) > 0, {
  error: 'must be longer than 0',
});

/** What the watchdog tolerates before it reports an incident. */
export const watchdogSettingsSchema = z.strictObject({
  every: positiveDurationSchema
    .refine((duration) => toDurationMs(duration) >= 60_000, { error: 'must be 1m or more' })
    .default('15m')
    .describe('how often the scheduler looks'),
  lateAfter: positiveDurationSchema
    .default('2h')
    .describe('how long after its time a job may start before it counts as not run'),
  stuckAfter: positiveDurationSchema
    .default('2h')
    .describe('how long a run may save nothing before it counts as stuck'),
  failingFor: positiveDurationSchema
    .default('7d')
    .describe(
      'customers who fail every night are reported once, and once more when they have had no valid answer for this long',
    ),
  noteFile: z
    .string()
    .min(1)
    .default('./nightscreen-watchdog.json')
    .describe('the file that notes that the database was unreachable and that this was reported'),
});
