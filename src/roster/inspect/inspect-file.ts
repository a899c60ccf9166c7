import { isAscii } from 'node:buffer';
import { basename } from 'node:path';
import { ConfigError } from '../../errors.js';
import { checkRow } from '../check-row.js';
import { bindColumns } from '../column-binding.js';
import { findTitledHeader } from '../csv/csv-file.js';
import { openCsvTable } from '../csv/csv-table.js';
import { csvEncodings, type EncodingLabel, inspectEncoding } from '../csv/encodings.js';
import { findFiles } from '../csv/find-files.js';
import { isZipFile, readSourceBytes } from '../csv/source-bytes.js';
import type { ColumnDoubts } from '../doubts.js';
import { looksLikeHeader } from '../header-row.js';
import { nameHeaders, readHeader } from '../headers.js';
import { findMeant, readNameText } from '../name-text.js';
import { findNoCustomer } from '../no-customer.js';
import { type CsvSettings, rosterSettingsSchema } from '../settings.js';
import type { TableReading } from '../table-reading.js';
import { describeUnmappedNames } from '../unmapped-names.js';
import { listFilledSheets } from '../workbook/workbook-file.js';
import { guessColumns } from './column-guess.js';
import { type ColumnGuess, type ColumnProfile, profileColumn } from './column-profile.js';
import { previewFile, startPreview } from './file-preview.js';

interface InspectionRequest {
  path: string;
  name: string;
  /** Replaces the guess. */
  delimiter?: string | undefined;
  encoding?: string | undefined;
  header?: boolean | undefined;
}

/** The form of a file, and the import result under the guessed mapping. */
export type FileInspection = Awaited<ReturnType<typeof inspectFile>>;

const sampleSize = 10_000;
/** So many rows of the sample are profiled; for 40 columns this takes half a second. */
const profiledRows = 2_000;
const dayLength = 10;
const encodingSampleBytes = 4 * 1024 * 1024;

/**
 * Inspects a file, or the first match of a pattern: its form, its columns, and the result of an import. Throws
 * RosterError when it is unreadable, ConfigError for an unknown delimiter or encoding.
 */
export async function inspectFile(request: InspectionRequest) {
  const { form, first, rows, profiles, tally, doubts } = await sampleFile(request);
  const { path, sheet, delimiter, encoding, hasHeader, headerLine, headers } = form;
  const guess = tryColumns(guessColumns(profiles), headers, rows);
  const { id, name } = guess.columns;
  const header = headerLine ?? hasHeader;
  const csv = { path, delimiter, encoding, ...(header === true ? {} : { header }) };
  const settings = { name: request.name, csv, columns: guess.columns };
  const parsed = rosterSettingsSchema.safeParse(settings);
  const isMapped = parsed.success && id !== undefined && name !== undefined;
  const ofFirst = { ...settings, csv: { ...csv, path: first, ...(sheet !== null && { sheet }) } };
  const preview = isMapped
    ? await previewFile(rosterSettingsSchema.parse(ofFirst), guess.unmapped)
    : startPreview(tally);
  const { customers, rejected, repeated, doubts: ofValues } = preview.counts;
  const ofRows = [...describeChangedIds(ofValues), ...describeUnmappedNames(preview.unmappedNames, headers, 'roster')];
  return {
    ...form,
    ...preview,
    guess: { ...guess, doubts: [...doubts, ...guess.doubts, ...ofRows] },
    /** The suggested entry of `rosters:`; null when no row is readable with the guess, or over half would be rejected. */
    settings: isMapped && 2 * rejected <= customers + rejected + repeated ? parsed.data : null,
  };
}

/** Reads the first rows of a file: its form, what is in its columns, and the doubts about both. */
async function sampleFile(request: InspectionRequest) {
  const { path } = request;
  const given = parseRequest(request);
  const files = await findFiles([path]);
  const first = files[0] ?? path;
  const [sheet, ...otherSheets] = (await isZipFile(first)) ? await listFilledSheets(first) : [];
  const { encoding, doubts: mixed } =
    sheet === undefined
      ? inspectEncoding(await readStart(first), given.encoding, first)
      : ({ encoding: 'utf-8', doubts: [] } as const);
  const { table, headerLine } = await openInspected(first, { ...given, encoding, sheet }, request.header);
  const sample = await readSample(table);
  const [top = [], ...below] = headerLine === null ? sample : [table.headers, ...sample];
  // Files that were put together repeat their header.
  const others = below.filter((fields) => fields.join('\n') !== top.join('\n'));
  const hasHeader = headerLine !== null || (request.header ?? looksLikeHeader(top, others));
  const headers = hasHeader ? nameHeaders(top) : table.headers;
  const unbound = { headers: [], id: [], name: { columns: [] } };
  const rows = thinOut((hasHeader ? others : sample).filter((fields) => findNoCustomer(unbound, fields) === null));
  const names = dropSharedPrefix(headers);
  const profiles = headers.map((header, index) =>
    profileColumn(
      header,
      rows.map((fields) => fields[index] ?? ''),
      names[index],
    ),
  );
  const doubts: string[] = [];
  if (otherSheets.length > 0) {
    const unread = otherSheets.join(', ');
    doubts.push(`only the sheet ${sheet} is read, not ${unread}: name another with \`sheet:\` under \`csv:\``);
  }
  if (headerLine !== null) doubts.push(`line ${headerLine} is the header: the lines above it are not read`);
  doubts.push(...(mixed.length > 0 ? mixed : doubtGarbledLetters(profiles, encoding)), ...doubtLostLetters(profiles));
  const { delimiter } = table;
  const tally = table.tally();
  if (hasHeader && headerLine === null) {
    // It was opened as if each line were a record.
    tally.headers += 1;
    tally.records -= 1;
  }
  const form = {
    path,
    /** The matching files, of which the first was inspected. */
    files,
    /** The sheet of a workbook that was read; null for CSV. */
    sheet: sheet ?? null,
    encoding,
    delimiter,
    hasHeader,
    /** The line of the header when the lines above it are not read. */
    headerLine,
    headers,
  };
  return { form, first, rows, profiles, tally, doubts };
}

/** Opens a table: below title lines with their header, else as if each line were a record. */
async function openInspected(path: string, form: CsvSettings, wantsHeader: boolean | undefined) {
  const csv = { ...form, path };
  const titled = wantsHeader === false ? null : await findTitle(csv);
  if (titled === null) return { table: await openCsvTable({ ...csv, header: false }, () => false), headerLine: null };
  const { line: header, delimiter } = titled;
  return { table: await openCsvTable({ ...csv, header, delimiter }, () => false), headerLine: header };
}

async function findTitle(csv: CsvSettings & { path: string }): ReturnType<typeof findTitledHeader> {
  if (csv.sheet === undefined) return findTitledHeader(csv.path, csv);
  const { lowerHeader, delimiter, close } = await openCsvTable(csv, () => false, true);
  await close();
  return lowerHeader ? { line: lowerHeader.line, delimiter } : null;
}

/** Tries a mapping on the sample; when over half would be rejected for their type, that column is dropped. */
function tryColumns(guess: ColumnGuess, headers: readonly string[], rows: readonly (readonly string[])[]): ColumnGuess {
  if (guess.columns.id === undefined || guess.columns.name === undefined) return guess;
  const today = new Date().toISOString().slice(0, dayLength);
  const shape = { headers, source: 'the sample', origin: 'first_line', today } as const;
  const binding = bindColumns(rosterSettingsSchema.shape.columns.parse(guess.columns), shape);
  const untyped = rows.filter((fields, at) => {
    const row = checkRow(binding, { line: at + 1, file: null, fields, fault: null });
    return row.kind === 'rejected' && /type$/.test(row.rejected.reason);
  });
  if (untyped.length <= rows.length / 2) return guess;
  const { type } = guess.columns;
  const column = typeof type === 'object' && 'column' in type ? type.column : type;
  return {
    unmapped: typeof column === 'string' ? [...guess.unmapped, { key: 'type', column }] : guess.unmapped,
    columns: { ...guess.columns, type: { value: 'person' } },
    because: { ...guess.because, type: 'no column shows it' },
    doubts: [
      ...guess.doubts,
      `type is not mapped: it would reject ${untyped.length} of ${rows.length} rows, so all count as persons`,
    ],
  };
}

function parseRequest({ path, name, delimiter = 'auto', encoding = 'auto' }: InspectionRequest): CsvSettings {
  const { success, data, error } = rosterSettingsSchema.safeParse({ name, csv: { path, delimiter, encoding } });
  if (success && data.csv !== undefined) return data.csv;
  throw new ConfigError(
    (error?.issues ?? []).map(({ path: place, message }) => {
      const flag = String(place.at(-1) ?? '');
      const expected = flag === 'encoding' ? `expected one of ${csvEncodings.join(', ')}` : message;
      return { where: flag === 'path' ? 'file' : `flag --${flag}`, path: '', message: expected };
    }),
  );
}

/** The roster name for a file. */
export const toRosterName = (path: string): string =>
  basename(path)
    .replace(/(\.(csv|tsv|txt|gz|xlsx))+$/i, '')
    .replace(/[^\p{L}\p{N}_-]+/gu, '-')
    .replace(/^-+|-+$/g, '') || 'default';

async function readStart(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readSourceBytes(path, () => undefined)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= encodingSampleBytes) break;
  }
  return Buffer.concat(chunks);
}

/** About `profiledRows` of the rows, evenly spread. */
function thinOut<Row>(rows: readonly Row[]): readonly Row[] {
  const step = rows.length / profiledRows;
  return step <= 1 ? rows : rows.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step));
}

async function readSample(table: TableReading): Promise<readonly (readonly string[])[]> {
  const sample: (readonly string[])[] = [];
  try {
    for await (const records of table.records) {
      for (const { fields, fault } of records) if (fault === null) sample.push(fields);
      if (sample.length >= sampleSize) break;
    }
  } finally {
    await table.close();
  }
  return sample;
}

/** Reports columns whose letters are UTF-8 that was read in another encoding, such as `MÃ¼ller`. */
function doubtGarbledLetters(profiles: readonly ColumnProfile[], encoding: EncodingLabel): readonly string[] {
  return profiles.flatMap(({ header, values }) => {
    const nonAscii = values.filter((value) => !isAscii(Buffer.from(value)));
    const garbled = nonAscii.flatMap((value) => {
      const meant = findMeant(value);
      return meant === null ? [] : [{ value, ...meant }];
    });
    const [first] = garbled;
    if (first === undefined || garbled.length < nonAscii.length / 2) return [];
    const remedy =
      encoding === 'utf-8' ? 'have the file exported again' : 'try --encoding utf-8, or have it exported again';
    return [
      `the letters of ${header} are garbled in ${garbled.length} of ${values.length} rows, such as ${JSON.stringify(first.value)} for ${JSON.stringify(first.text)}. They are UTF-8 that was read in the encoding ${first.label}: ${remedy}`,
    ];
  });
}

/** Reports columns whose letters an earlier export replaced by a question mark, such as `Nguy?n`. */
function doubtLostLetters(profiles: readonly ColumnProfile[]): readonly string[] {
  return profiles.flatMap(({ header, values }) => {
    // In a link or an e-mail address a question mark stands for no letter.
    const lost = values.filter((value) => !/[/=@]/.test(value) && readNameText(value, 'entity').why === 'lost_letters');
    const [first] = lost;
    if (first === undefined) return [];
    return [
      `letters of ${header} are lost in ${lost.length} of ${values.length} rows, such as ${JSON.stringify(first)}: have the file exported again, as UTF-8`,
    ];
  });
}

/** Reports columns of ids that a spreadsheet has changed. */
const describeChangedIds = (columns: readonly ColumnDoubts[]): readonly string[] =>
  columns
    .filter(({ field }) => field === 'id')
    .map(({ column, doubts, values: [most] }) => {
      const rows = doubts === 1 ? '1 row' : `${doubts} rows`;
      return `a spreadsheet has changed the ids of ${column} in ${rows}, such as ${JSON.stringify(most?.value ?? '')}: export the column as text`;
    });

/**
 * Removes a prefix, such as the name of a table. At least three headers must share it, and most of all headers unless the header is an
 * unknown one. A header that names another person keeps it.
 */
export function dropSharedPrefix(headers: readonly string[]): readonly string[] {
  const prefixes = headers.map((header) => /^[\p{L}\p{N}]+[._\- ](?=.)/u.exec(header)?.[0] ?? '');
  return headers.map((header, at) => {
    const prefix = prefixes[at] ?? '';
    const count = prefix === '' ? 0 : prefixes.filter((other) => other === prefix).length;
    const isOfMost = count > headers.length * 0.6;
    const { role, isOther } = readHeader(header);
    return count >= 3 && (isOfMost || role === null) && !isOther ? header.slice(prefix.length) : header;
  });
}
