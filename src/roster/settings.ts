import { z } from 'zod';
import { partyRoles, partyTypes, riskTiers } from '../vocabulary.js';
import { listLanguages, readCountry, toCountryCode } from './country.js';
import { csvEncodings } from './csv/encodings.js';
import { durationSchema, retentionSchema } from './duration.js';
import { guardsSchema } from './guards.js';
import { findFormatClash, isDateFormat } from './read-date.js';

/** Folds the own words of a mapping and of a row for their comparison. */
export function foldWord(word: string): string {
  return word.trim().normalize('NFC').toLowerCase();
}

/** The most unmapped columns that are stored with a customer. */
export const maxAttributes = 50;
/** The longest field of an unmapped column, in UTF-16 units. */
export const maxAttributeLength = 1_000;
/** The longest field of a mapped column, in UTF-16 units. */
export const maxFieldLength = 10_000;

const isPlace = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value > 0;

/** A header, or the number of a column in a file without a header. */
const header = z
  .preprocess((value) => (isPlace(value) ? String(value) : value), z.string().trim().min(1))
  .meta({ type: ['string', 'integer'] });
const headers = z.union([header, z.array(header).min(1)], { error: 'expected a header or a list of headers' });

const ownWords = <Word extends z.ZodType>(word: Word) =>
  z
    .record(z.string(), word)
    .refine((values) => Object.keys(values).length > 0, { error: 'expected at least one own word' })
    .refine((values) => new Set(Object.keys(values).map(foldWord)).size === Object.keys(values).length, {
      error: 'two own words differ only in case or blanks; write each once',
    });

const toOneCountry = (text: string): string | null => {
  const found = readCountry(text, null);
  if ('codes' in found && found.codes.length === 1) return found.codes[0] ?? null;
  return 'codes' in found ? null : toCountryCode(text);
};
const country = z
  .string()
  .refine((text) => toOneCountry(text) !== null, {
    error: 'expected a country: a name, or an ISO code of two or three letters',
  })
  .transform((text) => toOneCountry(text) ?? '');

const name = z.union(
  [header, z.array(header).min(1), z.strictObject({ columns: z.array(header).min(1), separator: z.string().max(10) })],
  { error: 'expected a header, a list of headers, or {columns: [...], separator}' },
);

/** A known word for all rows, a column of known words, or a column of own words. */
const oneOf = <const Words extends readonly string[]>(words: Words, error: string) =>
  z.union(
    [
      header,
      z.strictObject({ value: z.enum(words) }),
      z.strictObject({ column: header, values: ownWords(z.enum(words)) }),
    ],
    { error },
  );

const type = oneOf(
  partyTypes,
  'expected a header, {value: person} or {value: entity}, or {column, values: {own word: person or entity}}',
);

const dateFormat = z.string().refine(isDateFormat, {
  error: 'expected a date format of yyyy, M or MM, d or dd and separators, such as dd.MM.yyyy',
});
const dateFormats = z
  .array(dateFormat)
  .min(1)
  .refine((formats) => findFormatClash(formats) === null, {
    error: (issue) =>
      `${describeClash(issue.input)} read the same text as different days, so such dates would be ambiguous`,
  });
const pivot = z
  .int()
  .min(0)
  .max(99)
  .optional()
  .describe(
    'years of two digits from this one on (default 30) are 19.., those below it 20.. unless that is yet to come',
  );
const date = z.union(
  [
    header,
    z
      .strictObject({ column: header, format: dateFormat.optional(), formats: dateFormats.optional(), pivot })
      .refine(({ format, formats }) => format === undefined || formats === undefined, {
        error: 'expected format or formats, not both',
      }),
  ],
  {
    error:
      'expected a header, {column, format} or {column, formats: [...]}, each with a pivot or without, and formats of yyyy or yy, MM, dd and separators, such as dd.MM.yyyy',
  },
);
const wholeDate = date.refine(
  (setting) =>
    typeof setting === 'string' ||
    [setting.format ?? setting.formats ?? []].flat().every((each) => /d/.test(each) && each.includes('yyyy')),
  { error: 'an end date is a whole day: the format needs yyyy, a month and a day' },
);

const language = z
  .string()
  .refine((code) => listLanguages().includes(code), {
    error: 'expected the two-letter code of a language in which countries have names, such as de, fr or pl',
  })
  .optional()
  .describe(
    'language of the names of countries and months; without it any, and names that languages read differently are in doubt',
  );

const countries = z.union(
  [
    header,
    z.array(header).min(1),
    z.strictObject({ value: country }),
    z.strictObject({
      column: header,
      values: ownWords(country).optional(),
      separator: z.string().min(1).max(10).default(';'),
    }),
  ],
  {
    error:
      'expected a header, a list of headers, {value: dk}, or {column, values: {own word: country}, separator} with the last two optional',
  },
);

const riskTier = oneOf(
  riskTiers,
  'expected a header, {value: low, medium or high}, or {column, values: {own word: low, medium or high}}',
);

const aliases = z.union(
  [header, z.array(header).min(1), z.strictObject({ column: header, separator: z.string().min(1).max(10).optional() })],
  { error: 'expected a header, a list of headers, or {column, separator}' },
);

const active = z.union([header, z.strictObject({ column: header, values: ownWords(z.boolean()) })], {
  error: 'expected a header, or {column, values: {own word: true or false}}',
});

const attributesExpected = `expected all, or a list of at most ${maxAttributes} headers`;
const all = z
  .string()
  .refine((text) => text === 'all', { error: attributesExpected })
  .transform(() => 'all' as const);
const attributes = z.union([all, z.array(header).min(1).max(maxAttributes)], { error: attributesExpected });

const ignore = z
  .array(header)
  .optional()
  .describe(
    'columns that look like a fact, such as country, or like names of people or firms, and are left out on purpose',
  );

const realNames = z
  .array(z.string().trim().min(1))
  .optional()
  .describe(
    'names that are real as they are written, although they read like placeholders (NULL, N/A, test, 123), lists or garbled text',
  );

const realDates = z
  .array(z.iso.date())
  .optional()
  .describe('dates that look like substitutes (1970-01-01, or one that many rows share) and are real');

const facts = {
  name: name.optional().describe('the name; several columns are joined by a blank or by `separator`'),
  type: type.optional().describe('person or entity, by a column or the same for all'),
  birthDate: date
    .optional()
    .describe('birth date, whole or a year or month; a format says which of day and month comes first'),
  countries: countries.optional().describe('countries, as names, ISO codes or nationalities'),
};

const relatedRoles = partyRoles.filter((role) => role !== 'customer' && role !== 'conflicting_row');

const role = oneOf(
  relatedRoles,
  `expected a header, {value: ${relatedRoles.join(', ')}}, or {column, values: {own word: one of these}}`,
);

const rowPartySchema = z
  .strictObject({
    ...facts,
    name: name.describe('the column of the name, which may list several parties; or the columns that form one name'),
    separator: z
      .string()
      .min(1)
      .max(10)
      .optional()
      .describe(
        'between the parties of one cell; without it a semicolon, a bar, a line break or a share such as (50%)',
      ),
    role: role.optional().describe('what the party is to the customer; other without it'),
    type: type
      .optional()
      .describe(
        'person or entity; without it an entity where the name has a legal form such as Ltd, otherwise a person',
      ),
  })
  .refine(({ name, separator }) => separator === undefined || typeof name === 'string', {
    error:
      'a separator divides the parties of one cell: give one column as the name, or {columns, separator} as the name of one party',
  });

/** The columns of a roster by the fact that they hold; an absent key means the standard header if there is one. */
const columnsSchema = z.strictObject({
  id: headers.optional().describe("the customer's number; of several columns all together"),
  ...facts,
  riskTier: riskTier.optional().describe('low, medium or high'),
  aliases: aliases.optional().describe('further names; each is screened, and so billed, like a customer of its own'),
  active: active.optional().describe('whether the customer is one still'),
  endDate: wholeDate.optional().describe('the day on which the customer left, or will'),
  language,
  parties: z
    .array(rowPartySchema)
    .min(1)
    .optional()
    .describe(
      'related parties in the row of their customer, such as joint holders; each is screened and billed as well',
    ),
  attributes: attributes.optional().describe('columns kept beside the customer as text; all for every unmapped one'),
  realNames,
  realDates,
  ignore,
});

/** The column mapping of a roster. */
export type ColumnSettings = z.infer<typeof columnsSchema>;

const partyColumnsSchema = z.strictObject({
  customerId: headers.optional().describe('the number of the customer that the party belongs to'),
  role: role.optional().describe('what the party is to the customer'),
  ...facts,
  ignore,
});

/** The column mapping of a source of related parties; language and exceptions are those of the roster. */
export type PartyColumnSettings = z.infer<typeof partyColumnsSchema> &
  Pick<ColumnSettings, 'language' | 'realNames' | 'realDates'>;

function describeClash(input: unknown): string {
  const formats = Array.isArray(input) ? input.filter((each) => typeof each === 'string') : [];
  return findFormatClash(formats)?.join(' and ') ?? 'two formats';
}

// Excludes the syntax that JavaScript and the database read differently: look-around, named groups, word boundaries and Unicode classes.
const unlike = /\(\?(?!:)|\\[bBpPkuxAZmMyY]|\[\[|\*\?|\+\?|\?\?|\}\?/;

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
    .union([z.boolean(), z.int().min(1).max(1_000)], { error: 'expected true, false, or the line of the header' })
    .default(true)
    .describe(
      'line of the header, true for the first; lines above it are not read; false: no header, and columns are named by number',
    ),
  sheet: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe('the sheet of a workbook (.xlsx); without it the first with a value'),
  skipRows: z
    .array(z.string().trim().min(1))
    .min(1)
    .optional()
    .describe('rows whose first cell begins with one of these, such as [Totale], are no customers; they are counted'),
});

/** The path and form of a CSV source. */
export type CsvSettings = z.infer<typeof csvSchema>;

const postgresSchema = z.strictObject({
  urlEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })
    .describe('name of the variable that holds the connection string, which is secret'),
  query: z.string().trim().min(1).describe('one statement, such as select * from customers; read in one snapshot'),
});

/** The query of a source, and the variable with its connection string. */
export interface PostgresSettings extends z.infer<typeof postgresSchema> {
  /** For each step of the reading, the first of which may have to sort the whole result. */
  timeoutMs?: number;
}

const oneSource = { error: 'expected exactly one of csv and postgres' };

const partySettingsSchema = z
  .strictObject({
    csv: z
      .strictObject({
        path: csvSchema.shape.path,
        encoding: z
          .enum(['auto', ...csvEncodings])
          .optional()
          .describe('as of the roster, and without it that of the roster'),
        sheet: csvSchema.shape.sheet,
      })
      .optional()
      .describe('CSV files in the form of those of the roster; this or `postgres`'),
    postgres: postgresSchema.optional().describe('a query; this or `csv`'),
    columns: partyColumnsSchema.default({}).describe('which columns hold what'),
  })
  .refine((parties) => (parties.csv === undefined) !== (parties.postgres === undefined), oneSource);

/** A source of related parties with what it shares with its roster. */
export interface PartySettings {
  csv?: CsvSettings | undefined;
  postgres?: PostgresSettings | undefined;
  columns: PartyColumnSettings;
}

/** The sources of related parties of a roster: their files have its form, their columns its language and exceptions. */
export const listPartySources = ({ csv, columns, parties }: Pick<RosterSettings, 'csv' | 'columns' | 'parties'>) =>
  parties.map((source): PartySettings => {
    const { language, realNames, realDates } = columns;
    const { path, sheet, encoding = csv?.encoding ?? 'auto' } = { path: undefined, ...source.csv };
    return {
      csv: path === undefined ? undefined : { delimiter: 'auto', header: true, ...csv, sheet, path, encoding },
      postgres: source.postgres,
      columns: { language, realNames, realDates, ...source.columns },
    };
  });

/** One entry of `rosters:`; exactly one of `csv` and `postgres` is set. */
export const rosterSettingsSchema = z
  .strictObject({
    name: z.string().trim().min(1).describe('what commands and reports call it; no two rosters share one'),
    csv: csvSchema.optional().describe('a CSV source; this or `postgres`'),
    postgres: postgresSchema.optional().describe('a query; this or `csv`'),
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
    retention: retentionSchema
      .optional()
      .describe(
        'years after which customers who left are erased: a number, `eu-amlr` (5) or `us-ofac` (10); without it nobody is erased',
      ),
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
export interface RosterSettings extends Omit<z.infer<typeof rosterSettingsSchema>, 'postgres'> {
  postgres?: PostgresSettings | undefined;
}

/** Gives the settings of a CSV file with the standard headers. */
export function toFileRoster(name: string, path: string): RosterSettings {
  return { name, csv: { path, delimiter: 'auto', encoding: 'auto', header: true }, columns: {}, parties: [] };
}
