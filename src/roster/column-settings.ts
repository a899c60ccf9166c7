import { z } from 'zod';
import { partyRoles, partyTypes, riskTiers } from '../vocabulary.js';
import { listLanguages, readCountry, toCountryCode } from './country.js';
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
  [
    header,
    z.array(header).min(1),
    z.strictObject({ column: header, separator: z.string().min(1).max(10).default(';') }),
  ],
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
  .describe('columns that read like a fact of the customer, such as country, and are none: they hold no import');

const realNames = z
  .array(z.string().trim().min(1))
  .optional()
  .describe(
    'names that read like placeholders (NULL, N/A, test, 123) and are real: rows with any other one are rejected',
  );

/** The columns of a party's facts. */
const facts = {
  name: name.optional().describe('the name; several columns are joined by a blank or by `separator`'),
  type: type.optional().describe('person or entity, by a column or the same for all'),
  birthDate: date
    .optional()
    .describe('birth date, whole or a year or month; a format says which of day and month comes first'),
  countries: countries.optional().describe('countries, as names, ISO codes or nationalities'),
};

/** The columns of a roster by the fact that they hold; an absent key means the standard header if there is one. */
export const columnsSchema = z.strictObject({
  id: headers.optional().describe("the customer's number; of several columns all together"),
  ...facts,
  riskTier: riskTier.optional().describe('low, medium or high'),
  aliases: aliases.optional().describe('further names; each is screened, and so billed, like a customer of its own'),
  active: active.optional().describe('whether the customer is one still'),
  endDate: wholeDate.optional().describe('the day on which the customer left, or will'),
  language,
  attributes: attributes.optional().describe('columns kept beside the customer as text; all for every unmapped one'),
  realNames,
  ignore,
});

/** The column mapping of a roster. */
export type ColumnSettings = z.infer<typeof columnsSchema>;

const relatedRoles = partyRoles.filter((role) => role !== 'customer' && role !== 'conflicting_row');

const role = oneOf(
  relatedRoles,
  `expected a header, {value: ${relatedRoles.join(', ')}}, or {column, values: {own word: one of these}}`,
);

/** The columns of a source of related parties by the fact that they hold. */
export const partyColumnsSchema = z.strictObject({
  customerId: headers.optional().describe('the number of the customer that the party belongs to'),
  role: role.optional().describe('what the party is to the customer'),
  ...facts,
  language,
  realNames,
  ignore,
});

/** The column mapping of a source of related parties. */
export type PartyColumnSettings = z.infer<typeof partyColumnsSchema>;

function describeClash(input: unknown): string {
  const formats = Array.isArray(input) ? input.filter((each) => typeof each === 'string') : [];
  return findFormatClash(formats)?.join(' and ') ?? 'two formats';
}
