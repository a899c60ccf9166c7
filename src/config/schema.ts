import { z } from 'zod';
import { changeSettingsSchema } from '../changes/settings.js';
import { serviceSettingsSchema } from '../client/settings.js';
import { sweepSettingsSchema } from '../dossiers/settings.js';
import { mailSettingsSchema } from '../mail/settings.js';
import { canarySchema } from '../matches/canary.js';
import { metricsSettingsSchema } from '../metrics/settings.js';
import { reportSettingsSchema } from '../reports/settings.js';
import { rosterSettingsSchema } from '../roster/settings.js';
import { evidenceSettingsSchema } from '../runs/details/settings.js';
import { reviewSettingsSchema } from '../runs/reviewing/settings.js';
import { runSettingsSchema } from '../runs/settings.js';
import { jobsSettingsSchema, schedulerSettingsSchema } from '../scheduling/settings.js';
import { watchdogSettingsSchema } from '../scheduling/watchdog/settings.js';
import { budgetSettingsSchema } from '../screening/budget-settings.js';
import { screeningSettingsSchema } from '../screening/settings.js';
import { pingsSettingsSchema } from '../webhooks/ping-settings.js';
import { webhooksSettingsSchema } from '../webhooks/settings.js';

/** How much is logged, from little to all. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** The whole configuration: what each stage asks for, under one roof; every default is here or in the stage's own schema. */
export const configSchema = z.strictObject({
  organisation: z.literal('default').default('default'),
  service: serviceSettingsSchema.prefault({}),
  rosters: z.array(rosterSettingsSchema).default([]),
  canaries: z.array(canarySchema).default([]),
  screening: screeningSettingsSchema.prefault({}),
  budget: budgetSettingsSchema.prefault({}),
  changes: changeSettingsSchema.prefault({}),
  review: reviewSettingsSchema.prefault({}),
  evidence: evidenceSettingsSchema.prefault({}),
  sweep: sweepSettingsSchema.prefault({}),
  run: runSettingsSchema.prefault({}),
  reports: reportSettingsSchema.prefault({}),
  mail: mailSettingsSchema.optional(),
  webhooks: webhooksSettingsSchema.default([]),
  jobs: jobsSettingsSchema.prefault({}),
  scheduler: schedulerSettingsSchema.prefault({}),
  watchdog: watchdogSettingsSchema.prefault({}),
  pings: pingsSettingsSchema.prefault({}),
  metrics: metricsSettingsSchema.prefault({}),
  database: z
    .strictObject({
      folder: z.string().min(1).default('./.nightscreen'),
      acceptEmbedded: z
        .boolean()
        .default(false)
        .describe('let a live key work on the embedded database, which does not survive power loss'),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(logLevels).default('info') }).prefault({}),
});
/** The effective settings, defaults filled in. */
export type Settings = z.output<typeof configSchema>;
