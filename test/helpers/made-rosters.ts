import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { RosterError } from '../../src/errors.js';
import { type RosterSettings, rosterSettingsSchema } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import type { Database } from '../../src/store/database/database.js';
import { sql } from '../../src/store/database/statement.js';
import { makeSeededRandom } from './figures.js';
import { acceptChanges, makeAcceptance } from './small-site.js';
import { makeAppContext } from './small-world.js';

/** A customer as a row of a made file is meant. */
interface MeantCustomer {
  id: string;
  type: 'person' | 'entity';
  name: string;
  /** `yyyy-mm-dd`; null where the row gives no date that exists. */
  birthDate: string | null;
  /** Lower-case codes, of which those that the row gives but that are no country are left out. */
  countries: readonly string[];
}

/** What a row of a file is meant to be; null for what is no customer, such as a comment. */
interface MeantRow {
  meant: MeantCustomer | null;
  /** Whether it can be read as it stands, so that its customer has to be searched for. */
  isSound: boolean;
  /** How many lines it takes. */
  lines?: number;
}

/** A roster of known truth, with the settings that somebody would write who knows how it is written. */
interface MadeRoster {
  title: string;
  file: string;
  bytes: Buffer;
  csv: Readonly<Record<string, unknown>>;
  columns: Readonly<Record<string, unknown>>;
  rows: readonly MeantRow[];
  /** The code under which the whole file may be refused, where it cannot be read under these settings. */
  mayRefuse?: string;
}

type PoolName = Pick<MeantCustomer, 'name' | 'type'>;

/** Names of nobody, in several scripts and with what has to be quoted. */
const pool: readonly PoolName[] = [
  [
    'Åse Ørsted',
    'Müller Großmann',
    'José Núñez',
    "O'Neil-Smith",
    'لارا نور العجلان',
    '桂芝 秀兰 孙',
    'Иван Петров',
    'Ελένη Παπαδοπούλου',
    'Nguyễn Thị Hà',
    'Anna Lee',
  ].map((name): PoolName => ({ name, type: 'person' })),
  ['Baustoff & Söhne GmbH', 'ACME, INC.', 'Trading "Star" Ltd', 'Société Générale; Paris', 'A.B.C. | Holdings'].map(
    (name): PoolName => ({ name, type: 'entity' }),
  ),
].flat();

type Random = () => number;

const delimiters = [',', ';', '\t', '|', ',', ';'];
const lineEnds = ['\n', '\r\n', '\r', 'mixed'];
const encodings = [
  'utf-8',
  'utf-8 with a mark',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'utf-8',
  'windows-1252 undeclared',
];
const quotings = ['where needed', 'all', 'texts', 'with blanks around'];
const headings = ['standard', 'own', 'none', 'standard padded'];

/** What befalls some rows, or the whole file. */
const mishaps = [
  'blank lines',
  'lines of spaces',
  'rows of delimiters',
  'comments between rows',
  'comments at the top',
  'short rows',
  'long rows',
  'delimiters at the end of all rows',
  'delimiters at the end of some rows',
  'repeated rows',
  'contradicting rows',
  'long notes',
  'notes of many lines',
  'notes of 150 lines',
  'NUL in notes',
  'NUL in names',
  'stray quotes in notes',
  'stray quotes in names',
  'names with a delimiter that is not quoted',
  'a line that names the delimiter',
  'an end-of-file mark',
  'no end of the last line',
  'a last row that is cut off',
  'decimal commas',
  'blanks around values',
  'empty last column',
  'facts that are none',
  'columns without a header',
  'ids with leading zeros and apostrophes',
  'gzip',
] as const;
type Mishap = (typeof mishaps)[number];

const countries: readonly (readonly [code: string, name: string, long: string])[] = [
  ['dk', 'Denmark', 'DNK'],
  ['de', 'Germany', 'DEU'],
  ['fr', 'France', 'FRA'],
  ['sy', 'Syria', 'SYR'],
  ['ir', 'Iran', 'IRN'],
  ['jp', 'Japan', 'JPN'],
  ['us', 'United States', 'USA'],
];
const noDates = ['31.02.1980', 'unknown', '00.00.0000', '1980-02-30', 'n/a', '12'];
const noCountries = ['Stateless', 'unknown', 'Atlantis', '??', 'XX'];

/** A table being written: fields of each row, and what spoils the text of a row. */
interface Sheet {
  random: Random;
  delimiter: string;
  dateStyle: 'iso' | 'german' | 'american';
  has(mishap: Mishap): boolean;
}

/** Makes the roster of a seed, always the same for the same seed. */
export function makeRoster(seed: number): MadeRoster {
  const random = makeSeededRandom(seed * 7_919);
  for (let turn = 0; turn < 10; turn += 1) random();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const delimiter = pick(delimiters);
  const lineEnd = pick(lineEnds);
  const encoding = pick(encodings);
  const quoting = pick(quotings);
  const heading = pick(headings);
  // Each mishap comes in some file, with up to two others.
  const befallen = new Set<Mishap>([mishaps[seed % mishaps.length] ?? 'gzip', pick(mishaps), pick(mishaps)]);
  const has = (mishap: Mishap): boolean => befallen.has(mishap);
  const sheet: Sheet = { random, delimiter, has, dateStyle: pick(['iso', 'german', 'american'] as const) };
  const encodable = encoding.startsWith('windows-1252')
    ? pool.filter(({ name }) => /^[\x20-\x7e\xa0-\xff]*$/.test(name))
    : pool;
  const rowCount = 12 + Math.floor(random() * 60);
  const lines: string[] = [];
  const rows: MeantRow[] = [];
  const names = ['customer_id', 'type', 'name', 'birth_date', 'countries', 'amount', 'note'];
  const own = ['Kunden Nr', 'Art', 'Voller Name', 'geb.', 'Land', 'Saldo', 'Bemerkung'];
  const headers = heading === 'own' ? own : names;
  const quote = (text: string, isText = true): string => {
    const needs =
      text.includes(delimiter) || /["\n\r]/.test(text) || (/^ | $/.test(text) && quoting !== 'where needed');
    if (!needs && (quoting === 'where needed' || (quoting === 'texts' && !isText))) return text;
    const quoted = `"${text.replaceAll('"', '""')}"`;
    return quoting === 'with blanks around' && random() < 0.3 ? ` ${quoted} ` : quoted;
  };
  const write = (fields: readonly string[]): string =>
    fields.map((field, index) => quote(field, index > 0)).join(delimiter);
  if (has('a line that names the delimiter')) lines.push(`sep=${delimiter}`);
  const isCommented = has('comments at the top') && heading !== 'none';
  if (isCommented) lines.push('# exported by the core system', '#');
  if (heading !== 'none') {
    const shown = headers.map((header) => (heading === 'standard padded' ? ` ${header} ` : header));
    if (has('columns without a header')) shown.push('', '');
    lines.push(shown.map((header) => quote(header)).join(delimiter));
  }
  const endsAll = has('delimiters at the end of all rows');
  const extra = has('columns without a header') && heading !== 'none' ? ['', 'x'] : [];
  for (let at = 0; at < rowCount; at += 1) {
    if (has('blank lines') && random() < 0.15) lines.push('');
    if (has('lines of spaces') && random() < 0.15) lines.push('   ');
    // They count as blank.
    if (has('rows of delimiters') && rows.length > 0 && random() < 0.1)
      lines.push(delimiter.repeat(headers.length + extra.length - 1));
    if (has('comments between rows') && rows.length > 0 && random() < 0.1) {
      lines.push('# page 2');
      rows.push({ meant: null, isSound: false });
    }
    const made = makeRow(sheet, at, pick(encodable), pick);
    const fields = [...made.fields, ...extra];
    // The first row of a file without a header says how many columns there are.
    const isFirst = heading === 'none' && rows.length === 0;
    const spoilt = isFirst ? null : spoil(sheet, made.meant, fields, write);
    const isEnding = endsAll || (has('delimiters at the end of some rows') && !isFirst && random() < 0.2);
    const line = (spoilt?.line ?? write(fields)) + (isEnding ? delimiter : '');
    lines.push(line);
    const isSound = spoilt === null && (endsAll || !isEnding);
    rows.push({ meant: made.meant, isSound, lines: line.split('\n').length });
    if (has('repeated rows') && random() < 0.1) {
      lines.push(lines.at(-1) ?? '');
      rows.push(rows.at(-1) ?? { meant: null, isSound: false });
    }
    if (has('contradicting rows') && random() < 0.1) {
      const other = makeRow(sheet, at, pick(encodable), pick);
      lines.push(write([...other.fields, ...extra]) + (endsAll ? delimiter : ''));
      rows.push({ meant: other.meant, isSound: true });
    }
  }
  let text = joinLines(lines, lineEnd, random);
  if (has('a last row that is cut off')) {
    const last = lines.at(-1) ?? '';
    text = text.slice(0, text.lastIndexOf(last) + Math.max(4, Math.floor(last.length / 2)));
    const row = rows.at(-1);
    if (row) rows[rows.length - 1] = { ...row, isSound: false };
  } else if (has('no end of the last line')) text = text.replace(/[\r\n]+$/, '');
  if (has('an end-of-file mark')) text += '\x1a';
  const bytes = encode(text, encoding);
  const isZipped = has('gzip');
  const isRefused = encoding === 'windows-1252 undeclared' && !isAscii(text);
  const mayRefuse = isCommented ? 'column_missing' : isRefused ? 'encoding' : undefined;
  return {
    title: [
      delimiter === '\t' ? 'tab' : delimiter,
      encoding,
      lineEnd === 'mixed' ? 'mixed ends' : JSON.stringify(lineEnd),
      `quotes ${quoting}`,
      `header ${heading}`,
      ...befallen,
    ].join(', '),
    file: `made-${seed}.csv${isZipped ? '.gz' : ''}`,
    bytes: isZipped ? gzipSync(bytes) : bytes,
    csv: {
      ...(encoding === 'windows-1252' ? { encoding } : {}),
      ...(heading === 'none' ? { header: false, delimiter: delimiter === '\t' ? 'tab' : delimiter } : {}),
    },
    columns: toColumns(heading === 'none' ? ['1', '2', '3', '4', '5', '6', '7'] : headers, sheet.dateStyle),
    rows,
    ...(mayRefuse === undefined ? {} : { mayRefuse }),
  };
}

function toColumns(
  [id = '', type = '', name = '', date = '', land = '']: readonly string[],
  dateStyle: Sheet['dateStyle'],
) {
  const format = { iso: 'yyyy-MM-dd', german: 'dd.MM.yyyy', american: 'MM/dd/yyyy' }[dateStyle];
  return { id, type, name, birthDate: { column: date, format }, countries: land };
}

function makeRow(
  { random, dateStyle, has }: Sheet,
  at: number,
  { name, type }: PoolName,
  pick: <Item>(items: readonly Item[]) => Item,
) {
  const id = has('ids with leading zeros and apostrophes')
    ? `${random() < 0.3 ? "'" : ''}00${at + 17}`
    : `C-${1000 + at}`;
  const [year, month, day] = [
    1930 + Math.floor(random() * 75),
    1 + Math.floor(random() * 12),
    1 + Math.floor(random() * 28),
  ];
  const [mm, dd] = [String(month).padStart(2, '0'), String(day).padStart(2, '0')];
  const isOdd = has('facts that are none') && random() < 0.3;
  const hasDate = type === 'person' && random() < 0.8;
  const written = { iso: `${year}-${mm}-${dd}`, german: `${dd}.${mm}.${year}`, american: `${mm}/${dd}/${year}` }[
    dateStyle
  ];
  const lands = random() < 0.2 ? [] : random() < 0.8 ? [pick(countries)] : [pick(countries), pick(countries)];
  const land = lands.map((country) => pick([country[0].toUpperCase(), country[1], country[2]])).join(';');
  const meant: MeantCustomer = {
    // With an apostrophe, a spreadsheet takes digits for text.
    id: id.replace("'", ''),
    type,
    name,
    birthDate: hasDate && !isOdd ? `${year}-${mm}-${dd}` : null,
    countries: isOdd ? [] : [...new Set(lands.map(([code]) => code))].toSorted(),
  };
  const amount = has('decimal commas') ? `${Math.floor(random() * 9_000)},50` : String(Math.floor(random() * 9_000));
  const fields = [
    id,
    type,
    name,
    isOdd ? pick(noDates) : hasDate ? written : '',
    isOdd ? pick(noCountries) : land,
    amount,
    makeNote(random, has),
  ];
  return {
    meant,
    fields: has('blanks around values') ? fields.map((field) => (field === '' ? field : ` ${field}  `)) : fields,
  };
}

function makeNote(random: Random, has: Sheet['has']): string {
  if (has('empty last column')) return '';
  if (has('long notes') && random() < 0.3) return 'lorem ipsum '.repeat(Math.floor(random() * 6_000));
  if (has('notes of 150 lines') && random() < 0.1)
    return Array.from({ length: 150 }, (_, line) => `line ${line}`).join('\n');
  if (has('notes of many lines') && random() < 0.3)
    return Array.from({ length: 2 + Math.floor(random() * 50) }, (_, line) => `line ${line} "said"`).join('\n');
  if (has('NUL in notes') && random() < 0.3) return 'a\0b';
  return random() < 0.5 ? '' : `calls back, ${Math.floor(random() * 60)} min; "urgent"`;
}

/** What a mishap makes of the text of a row that it befalls; null where it befalls none. */
function spoil(
  { random, delimiter, has }: Sheet,
  { name }: MeantCustomer,
  fields: readonly string[],
  write: (fields: readonly string[]) => string,
): { line: string } | null {
  if (random() > 0.15) return null;
  const plain = fields.map((field) => (/["\n\r]/.test(field) || field.includes(delimiter) ? '' : field));
  const withName = (text: string): string => plain.map((field, index) => (index === 2 ? text : field)).join(delimiter);
  if (has('short rows')) return { line: write(fields.slice(0, 3 + Math.floor(random() * (fields.length - 4)))) };
  if (has('long rows')) return { line: write([...fields, 'surplus']) };
  if (has('NUL in names'))
    return {
      line: write(fields.map((field, index) => (index === 2 ? `${name.slice(0, 2)}\0${name.slice(2)}` : field))),
    };
  if (has('stray quotes in notes')) return { line: [...plain.slice(0, -1), '5\'10" tall'].join(delimiter) };
  if (has('stray quotes in names'))
    return { line: withName(`${name.replaceAll('"', '').replaceAll(delimiter, '')} "Bo"`) };
  if (has('names with a delimiter that is not quoted')) return { line: withName(`Lee${delimiter} Ann`) };
  return null;
}

function joinLines(lines: readonly string[], lineEnd: string, random: Random): string {
  const ends = ['\n', '\r\n', '\r'];
  return lines.map((line) => line + (lineEnd === 'mixed' ? ends[Math.floor(random() * 3)] : lineEnd)).join('');
}

const isAscii = (text: string): boolean => [...text].every((character) => character < '\x80');

function encode(text: string, encoding: string): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with a mark') return Buffer.from(`\ufeff${text}`);
  if (encoding.startsWith('windows-1252')) return Buffer.from(text, 'latin1');
  const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
  return encoding === 'utf-16be' ? wide.swap16() : wide;
}

const searchedShape = z.object({
  reference: z.string(),
  name: z.string(),
  type: z.enum(['person', 'entity']),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
});

/**
 * Imports a roster whole, guards overruled, and gives what is wrong with it: rows that disappear, customers that are read as somebody else, and
 * customers of sound rows that are not searched for. The database has no other roster of this file.
 */
export async function findFaults(database: Database, made: MadeRoster): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-made-'));
  const path = join(folder, made.file);
  const { file: name, csv, columns, rows } = made;
  try {
    await writeFile(path, made.bytes);
    const counts = await importRoster(database, rosterSettingsSchema.parse({ name, csv: { ...csv, path }, columns }));
    // What is damaged may be taken for as many rows as it has lines.
    const most = rows.reduce((sum, { isSound, lines = 1 }) => sum + (isSound ? 1 : lines), 0);
    const isKept = counts.rows >= rows.length && counts.rows <= most;
    const isBalanced = counts.rows === counts.customers + counts.rejected + counts.duplicates;
    return [
      ...(isKept ? [] : [`${rows.length} rows are meant, ${counts.rows} were read`]),
      ...(isBalanced ? [] : ['the sum does not hold']),
      ...compare(rows, await readSearched(database, name)),
    ];
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    return error.code === made.mayRefuse ? [] : [`refused: ${error.code}`];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function importRoster(database: Database, roster: RosterSettings) {
  const app = await makeAppContext(database, { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' });
  try {
    await acceptChanges(app);
    const acceptRoster = await makeAcceptance({ database });
    const { counts } = await runImport(app, roster, new AbortController().signal, { acceptRoster });
    if (!('rows' in counts)) throw new Error('no roster was imported');
    return counts;
  } finally {
    await app.client().close();
  }
}

const readSearched = (database: Database, roster: string) =>
  database.query(
    searchedShape,
    sql`select customer.reference, party.facts ->> 'name' as name, party.facts ->> 'type' as type,
       rtrim(party.facts ->> 'birthDate', '?') as "birthDate", party.facts -> 'countries' as countries
     from (
       select customer_id, version.record -> 'parties' -> party.ordinal::integer as facts
       from customer join party using (customer_id) join customer_version version using (customer_id, version)
       where party.is_current
     ) party
     join customer using (customer_id) join roster using (roster_id)
     where roster.name = ${roster}`,
  );

function compare(rows: readonly MeantRow[], searched: Awaited<ReturnType<typeof readSearched>>): readonly string[] {
  const meant = new Set(rows.flatMap((row) => (row.meant ? [describe(row.meant)] : [])));
  const found = new Set(searched.map(({ reference: id, ...facts }) => describe({ id, ...facts })));
  const sound = new Set(rows.flatMap((row) => (row.meant && row.isSound ? [describe(row.meant)] : [])));
  return [
    ...[...found].filter((text) => !meant.has(text)).map((text) => `wrong: ${text}`),
    ...[...sound].filter((text) => !found.has(text)).map((text) => `not searched: ${text}`),
  ];
}

/** A customer as one line; blanks within a name are one. */
const describe = ({ id, type, name, birthDate, countries }: MeantCustomer): string =>
  [id, type, name.replace(/\s+/g, ' ').trim().normalize('NFC'), birthDate ?? '-', countries.toSorted().join('+')].join(
    ' | ',
  );
