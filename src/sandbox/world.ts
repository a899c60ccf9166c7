import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { XMLParser } from 'fast-xml-parser';
import countries from 'i18n-iso-countries';
import { z } from 'zod';

const watchlistEntrySchema = z.strictObject({
  id: z.string().min(1),
  schema: z.string().min(1),
  name: z.string().min(1),
  aliases: z.array(z.string().min(1)),
  topics: z.array(z.string()),
  birth_date: z.array(z.string()),
  country: z.array(z.string()),
});
/** One listed party, as found and answered by a search (interface: AML search result). */
export type WatchlistEntry = z.infer<typeof watchlistEntrySchema>;

// The package has its names as JSON only; require reads them without an import attribute.
const require = createRequire(import.meta.url);
countries.registerLocale(require('i18n-iso-countries/langs/en.json'));

const SPELLINGS: Record<string, string> = {
  "democratic people's republic of korea": 'kp',
  'korea, north': 'kp',
  'korea, south': 'kr',
  'united kingdom of great britain and northern ireland': 'gb',
  'iran (islamic republic of)': 'ir',
  'syrian arab republic': 'sy',
  'state of palestine': 'ps',
  palestinian: 'ps',
  'west bank': 'ps',
  'united republic of tanzania': 'tz',
  'congo, democratic republic of the': 'cd',
  'congo, republic of the': 'cg',
  burma: 'mm',
  'cote d ivoire': 'ci',
  'the gambia': 'gm',
  'bosnia and herzegovina': 'ba',
  turkiye: 'tr',
  türkiye: 'tr',
  kosovo: 'xk',
};

const toCountryCode = (name: string): string | undefined => {
  const plain = name.trim();
  const known = SPELLINGS[plain.toLowerCase()];
  return known ?? countries.getAlpha2Code(plain, 'en')?.toLowerCase();
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const SCHEMAS: Record<string, string> = { individual: 'Person', vessel: 'Vessel', aircraft: 'Airplane' };
// Company words choose the schema, because the file only says "not an individual".
const COMPANY = /\b(ltd|limited|llc|inc|corp(oration)?|co|company|gmbh|s\.?a\.?r?\.?l?|jsc|plc|bank|banco)\b\.?/i;

const readRows = async (path: string): Promise<string[][]> => {
  const text = await readFile(path, 'utf8');
  // The published files end with an end-of-file byte.
  return parse(text.replaceAll('\u001a', ''), { relax_column_count: true, skip_empty_lines: true, trim: true });
};

const readOptionalRows = async (path: string): Promise<string[][]> =>
  readRows(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });

const toValue = (field: string | undefined): string => (field === undefined || field === '-0-' ? '' : field);

const toDate = (day: string | undefined, month: string | undefined, year: string): string => {
  const monthNumber = month === undefined ? 0 : MONTHS.indexOf(month) + 1;
  if (monthNumber === 0) return year;
  const yearAndMonth = `${year}-${String(monthNumber).padStart(2, '0')}`;
  return day === undefined ? yearAndMonth : `${yearAndMonth}-${day.padStart(2, '0')}`;
};

const readBirthDates = (remarks: string): string[] =>
  [...remarks.matchAll(/DOB (?:circa )?(?:(?:(\d{1,2}) )?([A-Z][a-z]{2}) )?(\d{4})/g)].map(([, day, month, year]) =>
    toDate(day, month, year ?? ''),
  );

const readCountries = (remarks: string): string[] =>
  [...remarks.matchAll(/(?:nationality|citizen) ([^;.]+)/g)].flatMap(([, name]) => toCountryCode(name ?? '') ?? []);

const readWeakAliases = (remarks: string): string[] =>
  [...remarks.matchAll(/a\.k\.a\. '([^']{3,})'/g)].flatMap(([, alias]) => alias ?? []);

const groupColumn = (rows: readonly string[][], column: number): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const value = toValue(row[column]);
    if (value !== '') groups.set(row[0] ?? '', [...(groups.get(row[0] ?? '') ?? []), value]);
  }
  return groups;
};

/** Reads the OFAC SDN list as published in CSV: `sdn.csv`, and if present `alt.csv` (aliases) and `add.csv` (countries). */
const readOfacFolder = async (folder: string): Promise<WatchlistEntry[]> => {
  const [parties, aliasRows, addressRows] = await Promise.all([
    readRows(join(folder, 'sdn.csv')),
    readOptionalRows(join(folder, 'alt.csv')),
    readOptionalRows(join(folder, 'add.csv')),
  ]);
  const aliases = groupColumn(aliasRows, 3);
  const addressCountries = groupColumn(addressRows, 4);
  return parties.map((row) => {
    const [number = '', name = '', type = ''] = row;
    const remarks = toValue(row[11]);
    const schema = SCHEMAS[type] ?? (COMPANY.test(name) ? 'Company' : 'Organization');
    const ofAddress = schema === 'Person' ? [] : (addressCountries.get(number) ?? []);
    return {
      id: `amla_ofac${number}`,
      schema,
      name,
      aliases: [...(aliases.get(number) ?? []), ...readWeakAliases(remarks)],
      topics: ['sanction'],
      birth_date: [...new Set(readBirthDates(remarks))],
      country: [...new Set([...readCountries(remarks), ...ofAddress.flatMap((place) => toCountryCode(place) ?? [])])],
    };
  });
};

const text = z.string().catch('');
const list = <T extends z.ZodType>(item: T) => z.array(item.or(z.literal('').transform(() => undefined))).default([]);

const partySchema = z.object({
  DATAID: z.string(),
  FIRST_NAME: text,
  SECOND_NAME: text,
  THIRD_NAME: text,
  FOURTH_NAME: text,
  NAME_ORIGINAL_SCRIPT: text,
  NATIONALITY: z.object({ VALUE: z.array(z.string()).default([]) }).catch({ VALUE: [] }),
  INDIVIDUAL_ALIAS: list(z.object({ ALIAS_NAME: text })),
  ENTITY_ALIAS: list(z.object({ ALIAS_NAME: text })),
  ENTITY_ADDRESS: list(z.object({ COUNTRY: text })),
  INDIVIDUAL_DATE_OF_BIRTH: list(z.object({ DATE: text, YEAR: text, FROM_YEAR: text, TO_YEAR: text })),
});

// The parser reads an empty element as an empty text.
const section = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? {} : value), schema);

const listSchema = z.object({
  CONSOLIDATED_LIST: z.object({
    INDIVIDUALS: section(z.object({ INDIVIDUAL: z.array(partySchema).default([]) })),
    ENTITIES: section(z.object({ ENTITY: z.array(partySchema).default([]) })),
  }),
});

const REPEATED = new Set([
  'INDIVIDUAL',
  'ENTITY',
  'INDIVIDUAL_ALIAS',
  'ENTITY_ALIAS',
  'ENTITY_ADDRESS',
  'INDIVIDUAL_DATE_OF_BIRTH',
  'VALUE',
]);

const present = (values: readonly (string | undefined)[]): string[] => [
  ...new Set(values.flatMap((value) => (value?.trim() ? [value.replace(/\s+/g, ' ').trim()] : []))),
];

const toEntry = (party: z.infer<typeof partySchema>, schema: string): WatchlistEntry => {
  const name = present([[party.FIRST_NAME, party.SECOND_NAME, party.THIRD_NAME, party.FOURTH_NAME].join(' ')]).join('');
  const aliases = [...party.INDIVIDUAL_ALIAS, ...party.ENTITY_ALIAS].map((alias) => alias?.ALIAS_NAME);
  const countries = [...party.NATIONALITY.VALUE, ...party.ENTITY_ADDRESS.map((address) => address?.COUNTRY)];
  return {
    id: `amla_un${party.DATAID}`,
    schema,
    name,
    aliases: present([party.NAME_ORIGINAL_SCRIPT, ...aliases]).filter((alias) => alias !== name),
    topics: ['sanction'],
    birth_date: present(
      party.INDIVIDUAL_DATE_OF_BIRTH.flatMap((birth) =>
        birth?.DATE ? [birth.DATE] : [birth?.YEAR, birth?.FROM_YEAR, birth?.TO_YEAR],
      ),
    ),
    country: present(countries.map((country) => toCountryCode(country ?? ''))),
  };
};

/** Reads the UN Security Council consolidated list as published in XML; throws an Error that names the path. */
const readUnXml = async (path: string): Promise<WatchlistEntry[]> => {
  const parser = new XMLParser({ parseTagValue: false, isArray: (name) => REPEATED.has(name) });
  const result = listSchema.safeParse(parser.parse(await readFile(path, 'utf8')));
  if (!result.success) throw new Error(`${path} is not the UN consolidated list: ${z.prettifyError(result.error)}`);
  const { INDIVIDUALS, ENTITIES } = result.data.CONSOLIDATED_LIST;
  return [
    ...INDIVIDUALS.INDIVIDUAL.map((party) => toEntry(party, 'Person')),
    ...ENTITIES.ENTITY.map((party) => toEntry(party, 'Organization')),
  ];
};

/** One row of the service's dossier list (interface: Dossier summary). */
export const sandboxDossierSchema = z.strictObject({
  id: z.string().regex(/^dossier_[A-Za-z0-9]+$/),
  token: z.string().min(1),
  type: z.enum(['not_specified', 'kyc', 'kyb', 'doc']),
  status: z.enum(['draft', 'open', 'completed', 'archived', 'closed', 'needs_attention', 'approved', 'rejected']),
  name: z.string(),
  reference: z.string().nullable(),
  risk_score: z.number().int().nullable(),
  is_test: z.boolean(),
  download_status: z.string(),
  documents_count: z.number().int().min(0),
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }),
  completed_at: z.iso.datetime({ offset: true }).nullable(),
});
/** A dossier of the sandbox's main organisation, as listed. */
export type SandboxDossier = z.infer<typeof sandboxDossierSchema>;

/** How a world changes ranks and scores at random: `scoreNoise` is the largest change of a score. */
export const rankingSchema = z.strictObject({
  shuffleSeed: z.number().int().optional(),
  scoreNoise: z.number().min(0).max(1).optional(),
});
/** The data of a sandbox: listed parties, the dossiers of its main organisation, and its ranking. */
export interface SandboxWorld {
  watchlist: readonly WatchlistEntry[];
  dossiers: readonly SandboxDossier[];
  ranking?: z.infer<typeof rankingSchema>;
}

const KNOWN_FORMATS =
  'known formats: a JSON array of watchlist entries, a folder with the OFAC sdn.csv (or that file), the UN consolidated list as XML';

const readJson = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
  const text = await readFile(path, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new Error(`${path} does not have the fixture format: ${z.prettifyError(result.error)}`);
  return result.data;
};

const readWatchlist = async (path: string): Promise<WatchlistEntry[]> => {
  const found = await stat(path).catch((error: unknown) => {
    throw new Error(`no watchlist at ${path}; ${KNOWN_FORMATS}`, { cause: error });
  });
  if (found.isDirectory()) {
    const hasSdn = await stat(join(path, 'sdn.csv')).then(
      () => true,
      () => false,
    );
    if (hasSdn) return readOfacFolder(path);
    throw new Error(`${path} holds no sdn.csv; ${KNOWN_FORMATS}`);
  }
  if (path.endsWith('sdn.csv')) return readOfacFolder(join(path, '..'));
  if (path.endsWith('.json')) return readJson(path, z.array(watchlistEntrySchema));
  if (path.endsWith('.xml')) return readUnXml(path);
  throw new Error(`${path} is no readable watchlist; ${KNOWN_FORMATS}`);
};

/** Reads watchlists and dossiers from files; throws an Error that names the path and the known formats. */
export async function loadWorld(paths: { watchlists: readonly string[]; dossiers?: string }): Promise<SandboxWorld> {
  const lists = await Promise.all(paths.watchlists.map(readWatchlist));
  const dossiers = paths.dossiers === undefined ? [] : await readJson(paths.dossiers, z.array(sandboxDossierSchema));
  return { watchlist: lists.flat(), dossiers };
}
