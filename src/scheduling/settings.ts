import { validateDetailed } from 'node-cron';
import { z } from 'zod';
import { durationSchema, toDurationMs } from '../roster/duration.js';

const cronSchema = z
  .string()
  .superRefine((expression, context) => {
    if (expression === 'off') return;
    for (const error of validateDetailed(expression).errors) {
      const reason = error.field === 'expression' ? error.message : `its ${error.field} is wrong`;
      context.addIssue({ code: 'custom', message: `is neither a cron expression nor off: ${reason}` });
    }
  })
  .meta({ title: 'cron expression, or `off`' })
  .optional();

/** When each job starts, in the time zone of the configuration; a job that is not named keeps its default. */
export const jobsSettingsSchema = z.strictObject({
  rescreen: cronSchema.describe('every roster: import, screen who is due, report and mail; `0 2 * * *`'),
  sweep: cronSchema.describe('read all dossiers and store what changed, for the reports of the night; `0 1 * * *`'),
  report: cronSchema.describe(
    'mail the reports that were not sent yet, and the one over all rosters; without `mail`, write the newest of each roster; `0 6 * * *`',
  ),
  reconcile: cronSchema.describe(
    'compare rosters with dossiers again; every rescreening does that itself when a roster has dossiers; `off`',
  ),
  onboard: cronSchema.describe('every roster: import, screen customers that were never screened, report; `off`'),
  dirty: cronSchema.describe('look up the dossiers, and search the customers, that events have marked; `off`'),
  retention: cronSchema.describe(
    'erase customers by `retention` of their roster, and remove nights older than `database.keepRuns`; `0 12 1 * *`',
  ),
  mail: cronSchema.describe('send what waits in the outbox; only with `mail` or `webhooks`; `*/15 * * * *`'),
});
/** The cron expression of a job by its name, or `off`. */
export type JobsSettings = Readonly<Record<string, string | undefined>>;

const isTimerMs = (ms: number): boolean => ms >= 1_000 && ms <= 20 * 86_400_000;

export const schedulerSettingsSchema = z.strictObject({
  // From a second to twenty days, the range of the platform's timers.
  timeout: durationSchema
    .refine((span) => isTimerMs(toDurationMs(span)), { error: 'must be from 1s to 20d' })
    .default('12h')
    .describe('how long one attempt of a job may last; its run goes on at the next start'),
});
