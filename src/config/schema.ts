import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeSettingsSchema } from '../changes/severity.js';
import { serviceSettingsSchema } from '../client/settings.js';
import { sweepSettingsSchema } from '../dossiers/sweep-dossiers.js';
import { mailSettingsSchema } from '../mail/settings.js';
import { canarySchema } from '../matches/canary.js';
import { reconciliationSettingsSchema } from '../reconciliation/discrepancy.js';
import { reportSettingsSchema } from '../reports/settings.js';
import { durationSchema } from '../roster/duration.js';
import { rosterSettingsSchema } from '../roster/settings.js';
import { runSettingsSchema } from '../runs/app-context.js';
import { evidenceSettingsSchema } from '../runs/details-settings.js';
import { reviewSettingsSchema } from '../runs/review/settings.js';
import { toCanonicalJson } from '../runs/settings-diff.js';
import { jobsSettingsSchema, schedulerSettingsSchema, watchdogSettingsSchema } from '../scheduling/settings.js';
import { budgetSettingsSchema } from '../screening/budget.js';
import { screeningSettingsSchema } from '../screening/settings.js';
import { listenSettingsSchema, pingsSettingsSchema, webhooksSettingsSchema } from '../webhooks/settings.js';

/** How much is logged, from little to all. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** The whole configuration: what each stage asks for, under one roof; every default is here or in the stage's own schema. */
export const configSchema = z.strictObject({
  organisation: z.literal('default').default('default').describe('the only value so far'),
  service: serviceSettingsSchema.prefault({}).describe('how the service is reached, and how fast'),
  rosters: z.array(rosterSettingsSchema).default([]).describe('whom to screen, and where the rows come from'),
  canaries: z
    .array(canarySchema)
    .default([])
    .describe('control searches whose answer is known; without them no live run is complete'),
  screening: screeningSettingsSchema.prefault({}).describe('whom a run asks about, and when anew'),
  budget: budgetSettingsSchema.prefault({}).describe('what may be spent on searches, over all rosters of the account'),
  changes: changeSettingsSchema.prefault({}).describe('what counts as a change, and how much each matters'),
  review: reviewSettingsSchema
    .prefault({})
    .describe('when reviewers work, which decisions need two of them, and how long decisions hold'),
  evidence: evidenceSettingsSchema.prefault({}).describe('what is kept beside the answers to searches'),
  sweep: sweepSettingsSchema.prefault({}).describe('how dossiers are read'),
  reconciliation: reconciliationSettingsSchema
    .prefault({})
    .describe('how rosters, screenings and dossiers are compared'),
  run: runSettingsSchema.prefault({}).describe('how runs behave when the service is out of reach'),
  reports: reportSettingsSchema.prefault({}).describe('where reports go'),
  mail: mailSettingsSchema.optional().describe('who is notified of what and how; nobody without it'),
  webhooks: webhooksSettingsSchema.default([]).describe('systems that are notified of changes of state'),
  listen: listenSettingsSchema.prefault({}).describe('how events of the service are taken (`nightscreen listen`)'),
  jobs: jobsSettingsSchema
    .prefault({})
    .describe('when the jobs of `nightscreen schedule` start; a job that is not named keeps its default'),
  scheduler: schedulerSettingsSchema.prefault({}).describe('how the scheduler goes about all jobs'),
  watchdog: watchdogSettingsSchema.prefault({}).describe('what the watchdog puts up with before it reports'),
  pings: pingsSettingsSchema
    .prefault({})
    .describe('the monitor that the watchdog pings when it begins to look and when it has looked'),
  metrics: z
    .strictObject({
      textfile: z
        .string()
        .regex(/\.prom$/, 'must end in .prom, or no collector reads it')
        .optional()
        .describe('a file for the textfile collector, written whole'),
      hosts: z
        .array(z.string().regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/, 'must be a host name without a port'))
        .optional()
        .describe('names by which `schedule --metrics` may be asked; IP addresses and localhost always may'),
    })
    .prefault({})
    .describe('where figures go beside the page of the scheduler'),
  database: z
    .strictObject({
      folder: z.string().min(1).default('./.nightscreen').describe('the embedded database; not used with DATABASE_URL'),
      acceptEmbedded: z
        .boolean()
        .default(false)
        .describe('let a live key work on the embedded database, which is one disk of one host without a replica'),
      reconnectFor: durationSchema
        .default('90s')
        .describe('how long a lost connection to Postgres is replaced for before the command fails; 0s fails at once'),
      durable: z
        .enum(['auto', 'always', 'never'])
        .default('auto')
        .describe(
          'whether commits of the embedded database survive power loss (fsync); auto: unless the key is a test key and no other has used the folder',
        ),
    })
    .prefault({})
    .describe('where data is kept'),
  log: z
    .strictObject({
      level: z.enum(logLevels).default('info').describe('how much is logged, from little to all'),
    })
    .prefault({})
    .describe('what is logged'),
});
/** The effective settings, defaults filled in. */
export type Settings = z.output<typeof configSchema>;

/**
 * The configuration file as a JSON Schema (draft 7), for editors: keys, types, defaults and what each means. What depends on several settings,
 * or on the key, is checked when the file is read.
 */
export function toConfigJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // Left out by zod where the value is changed as it is read; ours are written the same way before and after.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= structuredClone(zodSchema.def.defaultValue);
      // What JavaScript can count to is no limit that anybody has set.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return { $schema, $id: 'urn:nightscreen:config:1', title: 'nightscreen.config.yaml', ...rest };
}

/** SHA-256 (hex) of the settings that shape what is asked and what counts as a change; whom, when and how fast has no part in it. */
export function digestSettings(settings: Settings): string {
  const { service, changes } = settings;
  return createHash('sha256')
    .update(toCanonicalJson({ aml: service.aml, changes }))
    .digest('hex');
}
