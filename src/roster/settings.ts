import { z } from 'zod';
import { columnsSchema, partyColumnsSchema } from './column-settings.js';
import { csvEncodings } from './csv/encodings.js';
import { durationSchema, toDurationMs } from './duration.js';
import { guardsSchema } from './guards.js';

// Excludes the syntax that JavaScript and the database read differently: look-around, named groups, word boundaries and Unicode classes.
const unlike = /\(\?(?!:)|\\[bBpPkuxAZmMyY]|\[\[|\*\?|\+\?|\?\?|\}\?/;

/** Gives the reason why a pattern is unusable; null when it is usable. */
function findPatternProblem(pattern: string): string | null {
  try {
    const groups = (new RegExp(`${pattern}|`).exec('')?.length ?? 1) - 1;
    if (groups !== 1) return `holds ${groups} groups; exactly one must hold the customer's id, such as ^KYC-(.+)$`;
  } catch (error) {
    return `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
  const [found] = unlike.exec(pattern) ?? [];
  return found === undefined ? null : `holds ${found}, which the database reads differently; avoid it`;
}

const patternSchema = z.string().superRefine((pattern, context) => {
  const problem = findPatternProblem(pattern);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const text = z.string().min(1);
const isText = (value: unknown): value is string => typeof value === 'string';

const channels = ['email', 'sms'] as const;

/** How customers without a dossier are invited (interface: POST /autodoc/invitations). */
const invitingSchema = z.strictObject({
  workflow: z
    .string()
    .regex(/^wf_\S+$/, 'must be the token of a workflow, wf_...')
    .describe('token of the workflow that customers are invited to'),
  recipient: text.describe('a column of columns.attributes with the e-mail address or phone number'),
  channel: z
    .union([text, z.strictObject({ value: z.enum(channels) })], {
      error: 'expected a column with email or sms, {value: email} or {value: sms}',
    })
    .describe('a column of columns.attributes with email or sms, or one for all: { value }'),
  locale: z
    .union([text, z.strictObject({ value: text })], { error: 'expected a column, or {value: locale}' })
    .optional()
    .describe("a column of columns.attributes with the language, or one for all: { value }; without it the service's"),
});

/** How a roster's customers relate to the service's dossiers (interface: Dossier summary, `reference`). */
export const dossierLinkSchema = z.strictObject({
  reference: z
    .union([z.literal('exact'), z.strictObject({ prefix: text }), z.strictObject({ pattern: patternSchema })], {
      error: "expected exact, {prefix: text before the customer's id} or {pattern: regular expression with one group}",
    })
    .default('exact')
    .describe("how a dossier's reference holds the customer's id: exact, { prefix } or { pattern } with one group"),
  customerColumn: text
    .optional()
    .describe(
      "a column of columns.attributes that holds what a dossier's reference says; without it the customer's id",
    ),
  expect: z
    .union([z.enum(['always', 'never']), z.strictObject({ where: z.record(text, z.string()) })], {
      error: 'expected always, never, or {where: {column: value}}',
    })
    .default('always')
    .describe('which customers have a dossier: always, never, or { where: { column: value } } of columns.attributes'),
  invite: invitingSchema.optional().describe('how customers without a dossier are invited; without it none are'),
  staleAfter: durationSchema.optional().describe('how long a dossier may stay without any change, such as 365d'),
});
export type DossierLink = z.infer<typeof dossierLinkSchema>;

/** The columns that a link reads, which `attributes` must include. */
const listLinkColumns = ({ customerColumn, expect, invite }: DossierLink): readonly string[] => [
  ...(customerColumn === undefined ? [] : [customerColumn]),
  ...(invite === undefined ? [] : [invite.recipient, invite.channel, invite.locale].filter(isText)),
  ...(typeof expect === 'string' ? [] : Object.keys(expect.where)),
];

const maxTimeoutMs = 24 * 3_600_000;

const pathSchema = z.string().min(1);

const csvSchema = z.strictObject({
  path: z
    .union(
      [
        pathSchema,
        z
          .array(pathSchema)
          .min(1)
          .refine((paths) => !paths.includes('-') || paths.length === 1, {
            error: 'standard input (-) cannot be read together with files',
          }),
      ],
      { error: 'expected a path, a pattern such as rosters/*.csv, - for standard input, or a list of paths' },
    )
    .describe('a file, a pattern such as rosters/*.csv, a list of them, or - for standard input'),
  delimiter: z
    .string()
    .refine((text) => text === 'auto' || text === 'tab' || /^[^"\r\n \p{L}\p{N}\p{Cs}]$/u.test(text), {
      error: 'expected auto, tab, or one character that is no letter, digit, space or quote',
    })
    .transform((text) => (text === 'tab' ? '\t' : text))
    .default('auto')
    .describe('auto, tab, or one character'),
  encoding: z
    .enum(['auto', ...csvEncodings])
    .default('auto')
    .describe('auto takes UTF-8, or what a mark or zero bytes show; anything else is declared'),
  header: z
    .boolean()
    .default(true)
    .describe('false: the first line is a row already, and columns are named by number, from 1'),
});

/** The path and form of a CSV source. */
export type CsvSettings = z.infer<typeof csvSchema>;

const postgresSchema = z
  .strictObject({
    urlEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })
      .describe('name of the variable that holds the connection string, which is secret'),
    query: z.string().trim().min(1).optional().describe('one statement, read in one snapshot; this or `table`'),
    table: z
      .string()
      .regex(/^[^.\0]+(\.[^.\0]+)?$/, { error: 'expected a table or schema.table' })
      .optional()
      .describe('table or schema.table, spelt as the database has it'),
    statementTimeout: durationSchema
      .refine((duration) => toDurationMs(duration) > 0 && toDurationMs(duration) <= maxTimeoutMs, {
        error: 'expected a span between 1s and 1d',
      })
      .default('10m')
      .describe('for each step of the reading, the first of which may have to sort the whole result'),
  })
  .refine((postgres) => (postgres.query === undefined) !== (postgres.table === undefined), {
    error: 'expected exactly one of query and table',
  });

/** The query or table of a source, and the variable with its connection string. */
export type PostgresSettings = z.infer<typeof postgresSchema>;

const oneSource = { error: 'expected exactly one of csv and postgres' };

const partySettingsSchema = z
  .strictObject({
    csv: csvSchema.optional().describe('a CSV source; this or `postgres`'),
    postgres: postgresSchema.optional().describe('a query or table; this or `csv`'),
    columns: partyColumnsSchema.default({}).describe('which columns hold what'),
  })
  .refine((parties) => (parties.csv === undefined) !== (parties.postgres === undefined), oneSource);

/** One entry of a roster's `parties:`, a separate source of related parties. */
export type PartySettings = z.infer<typeof partySettingsSchema>;

/** One entry of `rosters:`; exactly one of `csv` and `postgres` is set. */
export const rosterSettingsSchema = z
  .strictObject({
    name: z.string().trim().min(1).describe('what commands and reports call it; no two rosters share one'),
    csv: csvSchema.optional().describe('a CSV source; this or `postgres`'),
    postgres: postgresSchema.optional().describe('a query or table; this or `csv`'),
    columns: columnsSchema.default({}).describe('which columns hold what; without it the standard headers'),
    parties: z
      .array(partySettingsSchema)
      .default([])
      .describe('joint holders, directors, beneficial owners and aliases, from sources of their own'),
    controlTotal: z
      .union([z.strictObject({ column: z.string().min(1) }), z.strictObject({ query: z.string().trim().min(1) })], {
        error: 'expected {column: header} or, for postgres, {query: one statement that gives one figure}',
      })
      .optional()
      .describe(
        'how many rows its source says there are: { column } that holds the figure in any row of each file, or { query } on the same database; fewer rows hold the roster',
      ),
    dossiers: dossierLinkSchema
      .optional()
      .describe("how customers relate to the service's dossiers; without it the roster is not reconciled"),
    guards: guardsSchema.optional().describe('when a snapshot is held before anything of it counts'),
  })
  .refine((roster) => (roster.csv === undefined) !== (roster.postgres === undefined), oneSource)
  .superRefine(({ controlTotal, postgres, dossiers, columns }, context) => {
    if (controlTotal !== undefined && 'query' in controlTotal && postgres === undefined) {
      const message = 'has a query, and the roster is no database; write { column: header }';
      context.addIssue({ code: 'custom', path: ['controlTotal'], message });
    }
    const { attributes = [] } = columns;
    if (dossiers === undefined || attributes === 'all') return;
    const missing = listLinkColumns(dossiers).filter((column) => !attributes.includes(column));
    if (missing.length === 0) return;
    const message = `reads ${missing.join(', ')}, which columns.attributes of the roster does not keep`;
    context.addIssue({ code: 'custom', path: ['dossiers'], message });
  });

/** A roster as configured. */
export type RosterSettings = z.infer<typeof rosterSettingsSchema>;

/** Gives the settings of a CSV file with the standard headers. */
export function toFileRoster(name: string, path: string): RosterSettings {
  return { name, csv: { path, delimiter: 'auto', encoding: 'auto', header: true }, columns: {}, parties: [] };
}
