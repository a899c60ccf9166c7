import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';
import type { EncodingLabel } from './encodings.js';
import { dropPadding, measureFirstRecord, parseRecords } from './quoted-record.js';
import { createRecordSplitter, joinLines, type LineBlock, sliceBlock } from './record-splitter.js';

const candidates = [',', ';', '\t', '|'];

/** How many lines behind the first record are asked whether they agree with it. */
const sampleLines = 200;

/** For each row without it so many have to end with a delimiter for it to belong to how the file is written. */
const endingsForEach = 9;

/** The most columns of a table. */
const maxColumns = 5_000;

/** How a file is written, and its columns. */
export interface CsvDialect {
  delimiter: string;
  /** Trimmed and in NFC; `1`, `2`, ... without a header. */
  headers: readonly string[];
  /** Physical lines that the header takes; 0 without one. */
  headerLines: number;
  /** Whether rows end with one delimiter more than the header has. */
  endsWithDelimiter: boolean;
}

/** A dialect found in the first record, which takes so many lines, before anything is known of the rows behind it. */
interface FirstRecord {
  dialect: CsvDialect;
  lineCount: number;
  fields: readonly string[];
}

/** A dialect, and what speaks for it. */
interface Reading {
  dialect: CsvDialect;
  mappedCount: number;
  hasSeveral: boolean;
  agreement: number;
}

/**
 * Finds how a file is written by the block that begins with its first record. With `auto` the delimiter is the one of `,` `;` tab `|`
 * that shows the most mapped columns, then more than one, then the most agreement of the rows that follow, then the most columns.
 * Throws RosterError `header_malformed` when the quotes of the first record make no sense, `too_many_columns`.
 */
export function findDialect(
  block: LineBlock,
  source: CsvSource,
  isMapped: (header: string) => boolean,
  path: string,
): CsvDialect {
  const delimiters = source.delimiter === 'auto' ? candidates : [source.delimiter];
  const best = delimiters
    .flatMap((delimiter) => readDialect(block, delimiter, source.header))
    .map((first) => weigh(first, block, isMapped))
    .sort(
      (one, other) =>
        other.mappedCount - one.mappedCount ||
        Number(other.hasSeveral) - Number(one.hasSeveral) ||
        other.agreement - one.agreement ||
        other.dialect.headers.length - one.dialect.headers.length,
    )[0]?.dialect;
  if (best === undefined) {
    const what = source.header ? 'header' : 'first row';
    throw new RosterError(
      'header_malformed',
      `${path}: the quotes of the ${what} (line ${block.firstLine}) make no sense. ` +
        'A quoted field ends with a quote before the delimiter; a quote within it is written twice.',
    );
  }
  if (best.headers.length > maxColumns) {
    throw new RosterError(
      'too_many_columns',
      `${path}: line ${block.firstLine} has ${best.headers.length} columns; a table has at most ${maxColumns}.`,
    );
  }
  return best;
}

function readDialect(block: LineBlock, delimiter: string, hasHeader: boolean): FirstRecord[] {
  const { lineCount, isPadded } = measureFirstRecord(block.texts, 0, block.isLast, delimiter);
  if (lineCount === null || lineCount === 0) return [];
  const text = joinLines(block, 0, lineCount);
  const fields = parseRecords([isPadded ? dropPadding(text, delimiter) : text], delimiter)[0];
  if (fields === null || fields === undefined) return [];
  const headers = fields.map((field, index) => (hasHeader ? field.trim().normalize('NFC') : String(index + 1)));
  const dialect = { delimiter, headers, headerLines: hasHeader ? lineCount : 0, endsWithDelimiter: false };
  return [{ dialect, lineCount, fields }];
}

function weigh(first: FirstRecord, block: LineBlock, isMapped: (header: string) => boolean): Reading {
  const endsWithDelimiter = findEndingDelimiter(first, block);
  const dialect = { ...first.dialect, endsWithDelimiter };
  const records = splitSample(dialect, block, dialect.headerLines);
  return {
    dialect,
    mappedCount: dialect.headers.filter((header) => isMapped(header)).length,
    hasSeveral: dialect.headers.length > 1,
    agreement: records.filter((record) => record.fault === null).length / Math.max(records.length, 1),
  };
}

/**
 * Tells whether rows behind the first record end with a delimiter that it has not, nine of ten at least beside those that have as many fields
 * as it has. A comma too many may be that of a name as well (`1,Lee, Ann,` has an empty last field): a single row proves nothing of commas,
 * nor do rows in which a blank follows one.
 */
function findEndingDelimiter({ dialect, lineCount, fields }: FirstRecord, block: LineBlock): boolean {
  const { length } = dialect.headers;
  const records = splitSample({ ...dialect, headers: [...dialect.headers, ''] }, block, lineCount);
  const ending = records.filter((record) => record.fault === null && record.fields.at(-1)?.trim() === '');
  const others = records.filter((record) => record.fields.length === length);
  if (ending.length === 0 || others.length * endingsForEach > ending.length) return false;
  if (dialect.delimiter !== ',') return true;
  const hasBlank = (row: readonly string[]): boolean => row.some((field) => field.startsWith(' '));
  const spaced = ending.filter((record) => hasBlank(record.fields)).length;
  return ending.length > 1 && (hasBlank(fields) || 2 * spaced < ending.length);
}

function splitSample(dialect: CsvDialect, block: LineBlock, from: number): readonly TableRecord[] {
  const { delimiter, headers, endsWithDelimiter } = dialect;
  const tally: LineTally = { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 };
  const shape = { delimiter, columnCount: headers.length, endsWithDelimiter };
  const split = createRecordSplitter({ ...shape, path: '', file: null }, tally);
  return split({ ...sliceBlock(block, from, from + sampleLines), isLast: true });
}

/** Where the files of a CSV table lie and how they are written. */
export interface CsvSource {
  /** Files, patterns of files (`*`, `?`, `[...]`, `**`), or `-` for standard input. */
  path: string | readonly string[];
  delimiter: string;
  encoding: 'auto' | EncodingLabel;
  /** Whether the first record names the columns; without it they are called `1`, `2`, and so on. */
  header: boolean;
}
