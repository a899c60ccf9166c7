import { z } from 'zod';
import { partyTypes, riskTiers } from './customer.js';
import { isDateFormat } from './date-format.js';
import { guardsSchema } from './guards/settings.js';

const headerSchema = z.string().trim().min(1);
const headersSchema = z.union([headerSchema, z.array(headerSchema).min(1)], {
  error: 'expected a header or a list of headers',
});

const typeColumnSchema = z.union(
  [
    headerSchema,
    z.strictObject({ value: z.enum(partyTypes) }),
    z.strictObject({ column: headerSchema, values: z.record(z.string(), z.enum(partyTypes)) }),
  ],
  { error: 'expected a header, {value: person} or {value: entity}, or {column, values: {own word: person or entity}}' },
);

const birthDateColumnSchema = z.union(
  [
    headerSchema,
    z.strictObject({
      column: headerSchema,
      format: z.string().refine(isDateFormat, {
        error: 'expected a date format of yyyy, M or MM, d or dd and separators, such as dd.MM.yyyy',
      }),
    }),
  ],
  { error: 'expected a header, or {column, format} with a format of yyyy, MM, dd and separators, such as dd.MM.yyyy' },
);

const riskTierColumnSchema = z.union(
  [headerSchema, z.strictObject({ column: headerSchema, values: z.record(z.string(), z.enum(riskTiers)) })],
  { error: 'expected a header, or {column, values: {own word: low, medium or high}}' },
);

const columnsSchema = z.strictObject({
  id: headersSchema.optional(),
  name: headersSchema.optional(),
  type: typeColumnSchema.optional(),
  birthDate: birthDateColumnSchema.optional(),
  countries: headerSchema.optional(),
  riskTier: riskTierColumnSchema.optional(),
});

/** Which columns of a source hold what; a key that is absent stands for the standard header. */
export type ColumnSettings = z.infer<typeof columnsSchema>;

const csvSchema = z.strictObject({
  path: z.string().min(1),
  delimiter: z
    .string()
    .refine((text) => text === 'auto' || /^[^"\r\n \p{L}\p{N}\p{Cs}]$/u.test(text), {
      error: 'expected auto or one character that is no letter, digit, space or quote',
    })
    .default('auto'),
  encoding: z.enum(['auto', 'utf-8']).default('auto'),
});

/** Where a CSV roster lies and how it is written. */
export type CsvSettings = z.infer<typeof csvSchema>;

const postgresSchema = z.strictObject({
  urlEnv: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' }),
  query: z.string().trim().min(1),
});

/** The query whose rows are a roster, and the variable that holds the connection string. */
export type PostgresSettings = z.infer<typeof postgresSchema>;

/** One entry of `parties:`. */
export type PartySettings = { csv: CsvSettings };

/** One entry of `rosters:`; exactly one of `csv` and `postgres` is set. */
export const rosterSettingsSchema = z
  .strictObject({
    name: z.string().trim().min(1),
    csv: csvSchema.optional(),
    postgres: postgresSchema.optional(),
    columns: columnsSchema.default({}),
    parties: z.array(z.strictObject({ csv: csvSchema })).default([]),
    guards: guardsSchema.optional(),
  })
  .refine((roster) => (roster.csv === undefined) !== (roster.postgres === undefined), {
    error: 'expected exactly one of csv and postgres',
  });

/** A roster as configured. */
export type RosterSettings = z.infer<typeof rosterSettingsSchema>;

/** Gives the settings of a CSV file that has the standard headers and so needs no mapping. */
export function toFileRoster(name: string, path: string): RosterSettings {
  return { name, csv: { path, delimiter: 'auto', encoding: 'auto' }, columns: {}, parties: [] };
}
