import { z } from 'zod';
import { columnsSchema, partyColumnsSchema } from './column-settings.js';
import { csvEncodings } from './csv/encodings.js';
import { dossierLinkSchema, listLinkColumns } from './dossier-link.js';
import { durationSchema, toDurationMs } from './duration.js';
import { guardsSchema } from './guards/settings.js';

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

/** Where a CSV source lies and how it is written. */
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

/** The query or table whose rows are a source, and the variable that holds the connection string. */
export type PostgresSettings = z.infer<typeof postgresSchema>;

const oneSource = { error: 'expected exactly one of csv and postgres' };

const partySettingsSchema = z
  .strictObject({
    csv: csvSchema.optional().describe('a CSV source; this or `postgres`'),
    postgres: postgresSchema.optional().describe('a query or table; this or `csv`'),
    columns: partyColumnsSchema.default({}).describe('which columns hold what'),
  })
  .refine((parties) => (parties.csv === undefined) !== (parties.postgres === undefined), oneSource);

/** One entry of a roster's `parties:`: further parties of its customers, from a source of their own. */
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

/** Gives the settings of a CSV file that has the standard headers and so needs no mapping. */
export function toFileRoster(name: string, path: string): RosterSettings {
  return { name, csv: { path, delimiter: 'auto', encoding: 'auto', header: true }, columns: {}, parties: [] };
}
