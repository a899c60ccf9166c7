import { isUtf8 } from 'node:buffer';
import { RosterError } from '../errors.js';
import { restoreFormula } from '../formulas.js';
import type { RejectReason } from '../vocabulary.js';
import { openCsvTable } from './csv/csv-table.js';
import { readStart } from './csv/source-bytes.js';
import type { CsvSettings } from './settings.js';
import type { TableReading, TableRecord } from './table-reading.js';

/** The columns that `rejects.csv` adds to those of the source. */
const rejectsColumns = [
  'rejected_line',
  'rejected_file',
  'rejected_column',
  'rejected_reason',
  'rejected_because',
  'rejected_value',
  'rejected_reference',
  'rejected_surplus',
  'rejected_outcome',
] as const;
export type RejectsColumn = (typeof rejectsColumns)[number];

/** The column of the fields for which the source has no column. */
export const surplusColumn = 'rejected_surplus' satisfies RejectsColumn;

/** The column of the reason. A structural reason stays until the user empties the cell. */
const reasonColumn = 'rejected_reason' satisfies RejectsColumn;

const fileColumn = 'rejected_file' satisfies RejectsColumn;

const addedColumns: ReadonlySet<string> = new Set(rejectsColumns);

/** Faults of the record itself: its fields alone cannot show whether it was corrected. */
const structuralReasons: readonly RejectReason[] = ['malformed_csv', 'wrong_column_count'];

/** Whether headers are those of a `rejects.csv`, of which a user may have deleted columns. */
function isRejectsHeader(headers: readonly string[]): boolean {
  return headers.filter((header) => addedColumns.has(header)).length >= 2;
}

/** The prefix of the file of related parties: such rows are never rows of the roster itself. */
export const partyFilePrefix = 'parties: ';

// The characters that src/reports/text.ts shows as code points; `[` is shown so in a text that looks like a code point.
const shown = /^[\p{C}\p{M}\u2028\u2029[]$/u;

/** Restores the characters that `rejects.csv` shows as code points (`[U+001B]`); other text in brackets stays. */
export function restoreHidden(text: string): string {
  return text.replace(/\[U\+([0-9A-F]{4,6})\]/g, (mark, digits: string) => {
    const codePoint = Number.parseInt(digits, 16);
    const character = codePoint > 0x10_ffff ? mark : String.fromCodePoint(codePoint);
    return shown.test(character) ? character : mark;
  });
}

/** The kind of a text is read from so many UTF-16 units. */
const mostRead = 10_000;
const harmful = /[\p{Cc}\u2028\u2029\ufffd]/u;

/** The first kind that fits applies; every kind allows blanks between words. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['digits', /^[\p{N}\s]+$/u],
  ['letters', /^[\p{L}\p{M}\s]+$/u],
  ['letters and digits', /^[\p{L}\p{M}\p{N}\s]+$/u],
  ['punctuation', /^[\p{P}\p{S}\s]+$/u],
  ['digits and punctuation', /^[\p{N}\p{P}\p{S}\s]+$/u],
  ['letters and punctuation', /^[\p{L}\p{M}\p{P}\p{S}\s]+$/u],
];

/** Describes the kind of a value, such as `digits, 8 characters`, without showing its content. */
export function classifyValue(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return 'empty';
  const seen = trimmed.slice(0, mostRead);
  const [found] = harmful.exec(seen) ?? [];
  if (found !== undefined) return describeHarmful(found);
  const kind = kinds.find(([, pattern]) => pattern.test(seen))?.[0] ?? 'mixed';
  const count = trimmed.length > mostRead ? trimmed.length : [...trimmed].length;
  return `${kind}, ${count} ${count === 1 ? 'character' : 'characters'}`;
}

function describeHarmful(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (character === '\ufffd') return `replacement character ${code}`;
  return `${/[\n\r\u0085\u2028\u2029]/.test(character) ? 'line break' : 'control character'} ${code}`;
}

/** Enough bytes for the header, and to find the encoding of a file that a spreadsheet saved again. */
const headerBytes = 64 * 1024;
const wholeBytes = 16 * 1024 * 1024;

/**
 * Opens a CSV source, a `rejects.csv` as the source it came from. Throws like `openCsvTable`; the records throw
 * RosterError `parties_as_customers` for rejected parties in a roster.
 */
export async function openCsvSource(
  csv: CsvSettings,
  what: 'roster' | 'parties',
  isMapped: (header: string) => boolean,
): Promise<TableReading> {
  // A source of related parties may be empty; a roster may not.
  return asSource(await openCsvTable(await readAsRejects(csv), isMapped, what === 'parties'), what);
}

/**
 * Gives the settings for a `rejects.csv` in place of the roster's own: it has a header and commas, or the form in
 * which a spreadsheet saved it. Settings for other files stay unchanged.
 */
async function readAsRejects(csv: CsvSettings): Promise<CsvSettings> {
  const path = [csv.path].flat();
  if (path.length !== 1 || path[0] === undefined || path[0] === '-') return csv;
  const start = await readStart(path[0], headerBytes);
  if (
    start === null ||
    !isRejectsHeader(
      decode(start)
        .replace(/^"?sep=.*[\r\n]+/i, '')
        .split(/[\r\n]/, 1)[0]
        ?.split(/[,;\t|"]+/) ?? [],
    )
  )
    return csv;
  const isMarked = start[0] === 0xef || start[0] === 0xff || start[0] === 0xfe;
  const isPlain = isMarked || isUtf8((await readStart(path[0], wholeBytes)) ?? start);
  return { ...csv, delimiter: 'auto', header: true, encoding: isPlain ? 'auto' : csv.encoding };
}

function decode(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return start.toString('utf16le');
  return start.toString('utf8').replace(/^\ufeff/, '');
}

/**
 * Turns a `rejects.csv` into the source it came from: without the added columns, apostrophes and visible code points.
 * A structurally broken record stays rejected until its `rejected_reason` is emptied. Any other table stays unchanged.
 */
function asSource(table: TableReading, what: 'roster' | 'parties'): TableReading {
  const { headers } = table;
  if (!isRejectsHeader(headers)) return table;
  const kept = headers.flatMap((header, index) => (addedColumns.has(header) ? [] : [index]));
  const places = { kept, reason: headers.indexOf(reasonColumn), surplus: headers.indexOf(surplusColumn) };
  const file = headers.indexOf(fileColumn);
  const refuseParties = (record: TableRecord): void => {
    if (what === 'parties' || !record.fields[file]?.startsWith(partyFilePrefix)) return;
    const message = `${table.source}: line ${record.line} was rejected as a related party and is no customer.`;
    throw new RosterError('parties_as_customers', `${message} Correct such rows in the source of the parties.`);
  };
  return {
    ...table,
    isFedBack: true,
    headers: kept.map((index) => restoreHidden(restoreFormula(headers[index] ?? ''))),
    records: mapBatches(table.records, (record) => {
      refuseParties(record);
      return toSourceRecord(record, headers.length, places);
    }),
  };
}

async function* mapBatches(
  batches: TableReading['records'],
  toRecord: (record: TableRecord) => TableRecord,
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  for await (const batch of batches) yield batch.map(toRecord);
}

function toSourceRecord(
  record: TableRecord,
  columnCount: number,
  { kept, reason, surplus }: { kept: readonly number[]; reason: number; surplus: number },
): TableRecord {
  const { fields } = record;
  const isWhole = fields.length === columnCount;
  const leftOver = isWhole ? (fields[surplus] ?? '').trim() : fields.slice(columnCount).join(' | ');
  const former = isWhole ? (fields[reason] ?? '').trim() : '';
  // The database stores NUL as its visible symbol, which would pass as part of a name.
  const toField = (text: string): string =>
    restoreHidden(restoreFormula(former === 'control_character' ? text.replaceAll('\u2400', '\0') : text));
  const own = kept.map((index) => toField(fields[index] ?? ''));
  const fault = structuralReasons.find((each) => each === former) ?? null;
  return {
    ...record,
    fields: leftOver === '' ? own : [...own, toField(leftOver)],
    fault: record.fault ?? (isWhole ? fault : 'wrong_column_count'),
  };
}
