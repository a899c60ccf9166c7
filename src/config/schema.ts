import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeSettingsSchema } from '../changes/severity.js';
import { serviceSettingsSchema } from '../client/settings.js';
import { sweepSettingsSchema } from '../dossiers/sweep-dossiers.js';
import { mailSettingsSchema } from '../mail/settings.js';
import { controlSchema } from '../matches/control.js';
import { reconciliationSettingsSchema } from '../reconciliation/discrepancy.js';
import { reportSettingsSchema } from '../reports/settings.js';
import { durationSchema, toDurationMs } from '../roster/duration.js';
import { rosterSettingsSchema } from '../roster/settings.js';
import { evidenceSettingsSchema, fleetSettingsSchema, runSettingsSchema, timezoneSchema } from '../runs/app-context.js';
import { reviewSettingsSchema } from '../runs/review/settings.js';
import { toCanonicalJson } from '../runs/settings-diff.js';
import { jobsSettingsSchema, schedulerSettingsSchema } from '../scheduling/settings.js';
import { budgetSettingsSchema } from '../screening/budget.js';
import { screeningSettingsSchema } from '../screening/settings.js';
import { logLevels } from '../vocabulary.js';
import { listenSettingsSchema, webhooksSettingsSchema } from '../webhooks/settings.js';

/** What only a program that uses the client sets. */
const ofTheLibrary = {
  proxy: true,
  timeoutSeconds: true,
  retry: true,
  maxResponseBytes: true,
  dossiers: true,
  invitations: true,
  sessions: true,
} as const;

/** The whole configuration, composed of the settings of each stage; every default is here or in the stage's own schema. */
export const configSchema = z.strictObject({
  timezone: timezoneSchema.describe(
    'the IANA time zone of schedules, times of day, due dates, and the day and month of the budget',
  ),
  service: serviceSettingsSchema.omit(ofTheLibrary).prefault({}).describe('how the service is reached, and how fast'),
  rosters: z.array(rosterSettingsSchema).default([]).describe('the customers to screen, and the source of the rows'),
  controls: z
    .array(controlSchema)
    .max(1_000)
    .default([])
    .describe('control searches with known answers; without them no live run is complete'),
  screening: screeningSettingsSchema.prefault({}).describe('which customers a run screens, and how often'),
  budget: budgetSettingsSchema.prefault({}).describe('the budget for searches, over all rosters of the account'),
  changes: changeSettingsSchema.prefault({}).describe('what counts as a change, and its severity'),
  review: reviewSettingsSchema
    .prefault({})
    .describe(
      'the working hours of reviewers, which dispositions need two of them, and how long dispositions are valid',
    ),
  evidence: evidenceSettingsSchema.describe(
    'packs of files that prove each run without the database; `off` for none, which every report then says',
  ),
  sweep: sweepSettingsSchema.prefault({}).describe('how dossiers are read'),
  reconciliation: reconciliationSettingsSchema
    .prefault({})
    .describe('how rosters, screenings and dossiers are compared'),
  run: runSettingsSchema.prefault({}).describe('how runs behave when the service is unreachable'),
  fleet: fleetSettingsSchema.describe(
    'workers (`nightscreen worker`) make the searches of runs, on any number of hosts; needs Postgres',
  ),
  reports: reportSettingsSchema.prefault({}).describe('where reports are written'),
  mail: mailSettingsSchema.optional().describe('who receives which mail, and how; without it no mail is sent'),
  webhooks: webhooksSettingsSchema.default([]).describe('systems that receive changes of state'),
  listen: listenSettingsSchema
    .prefault({})
    .describe('how events of the service are received (`nightscreen reconcile listen --port N`)'),
  jobs: jobsSettingsSchema
    .prefault({})
    .describe('when the jobs of `nightscreen schedule` start; a job without an entry keeps its default'),
  scheduler: schedulerSettingsSchema.prefault({}).describe('how the scheduler runs all jobs'),
  metrics: z
    .strictObject({
      hosts: z
        .array(z.string().regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/, 'must be a host name without a port'))
        .optional()
        .describe('host names that `schedule --metrics` accepts, in addition to IP addresses and localhost'),
    })
    .prefault({})
    .describe('who may read the metrics of `schedule --metrics`'),
  database: z
    .strictObject({
      folder: z.string().min(1).default('./.nightscreen').describe('the embedded database; not used with DATABASE_URL'),
      acceptEmbedded: z
        .boolean()
        .default(false)
        .describe('allow a live key with the embedded database, which is one disk of one host without a replica'),
      keepRuns: durationSchema
        .refine((span) => toDurationMs(span) >= 35 * 86_400_000, { error: 'must be 35d or longer' })
        .default('400d')
        .describe(
          'after this time `retention run` removes plans and calls of runs whose packs verify; `evidence show` reads the packs',
        ),
    })
    .prefault({})
    .describe('where data is stored'),
  log: z
    .strictObject({
      level: z.enum(logLevels).default('info').describe('how much is logged, from little to all'),
    })
    .prefault({})
    .describe('what is logged'),
});

/** What an organisation may have of its own; the database, the log and who may read metrics are those of the process. */
const { database: _database, log: _log, metrics: _metrics, ...shapeOfOrganisation } = configSchema.shape;
export const organisationGroups: readonly string[] = Object.keys(shapeOfOrganisation);

const organisationSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must have lower-case letters, digits and dashes only, at most 63')
    .describe(
      'the name in logs, metrics, mails and the database, and of its folders below `reports.dir` and `evidence.dir`; another name begins without history',
    ),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable')
    .describe('the variable with the private key of its account'),
  // Checked where they are laid over the top level.
  ...Object.fromEntries(organisationGroups.map((group) => [group, z.unknown().optional()])),
});

const organisationsSchema = z
  .array(organisationSchema)
  .min(1)
  .superRefine((organisations, context) => {
    for (const key of ['name', 'apiKeyEnv'] as const) {
      const values = organisations.map((each) => each[key]);
      for (const [index, value] of values.entries()) {
        const first = values.indexOf(value);
        const message = `organisations[${first}] has the same; each organisation needs its own`;
        if (first < index) context.addIssue({ code: 'custom', path: [index, key], message });
      }
    }
  });

/** The configuration file; without `organisations` it is that of one, which is named `default`. */
export const fileSchema = configSchema.extend({
  organisations: organisationsSchema
    .optional()
    .describe('several organisations, each with its own account and any of the other groups; see below'),
});

/** The configuration file as a JSON Schema (draft 7) for editors; rules over several settings, or about the key, are checked only on loading. */
export function toConfigJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(fileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // zod leaves out the default of a transformed value; our defaults are valid inputs.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= structuredClone(zodSchema.def.defaultValue);
      if (zodSchema === organisationSchema) {
        const groups = organisationGroups.map((group) => [group, { $ref: `#/properties/${group}` }]);
        // Its required setting may stand at the top level.
        const { $schema, required, ...mail } = z.toJSONSchema(mailSettingsSchema, { target: 'draft-7', io: 'input' });
        jsonSchema.properties = { ...jsonSchema.properties, ...Object.fromEntries(groups), mail };
      }
      // The largest safe integer is no limit of the configuration.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const head = { $schema, $id: 'urn:nightscreen:config:1', title: 'nightscreen.config.yaml' };
  return { ...head, ...rest };
}

/** SHA-256 (hex) of the settings that define a search and a change; customers, times and rates are not part of it. */
export function digestSettings({ service, changes }: z.output<typeof configSchema>): string {
  return createHash('sha256')
    .update(toCanonicalJson({ aml: service.aml, changes }))
    .digest('hex');
}
