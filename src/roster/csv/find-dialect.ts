import { RosterError } from '../../errors.js';
import type { LineTally } from '../table-reading.js';
import type { CsvSource } from './csv-source.js';
import { joinLines, type LineBlock, sliceBlock } from './line-block.js';
import { measureFirstRecord } from './measure-record.js';
import { parseRecords } from './parse-records.js';
import { createRecordSplitter } from './record-splitter.js';
import { dropPadding } from './scan-quotes.js';

const candidates = [',', ';', '\t', '|'];

/** How many lines behind the first record are asked whether they agree with it. */
const sampleLines = 200;

/** The most columns of a table. */
const maxColumns = 5_000;

/** How a file is written, and its columns. */
export interface CsvDialect {
  delimiter: string;
  /** Trimmed and in NFC; `1`, `2`, ... without a header. */
  headers: readonly string[];
  /** Physical lines that the header takes; 0 without one. */
  headerLines: number;
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
    .map((dialect) => weigh(dialect, block, isMapped))
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

function readDialect(block: LineBlock, delimiter: string, hasHeader: boolean): CsvDialect[] {
  const { lineCount, isPadded } = measureFirstRecord(block.texts, 0, block.isLast, delimiter);
  if (lineCount === null || lineCount === 0) return [];
  const text = joinLines(block, 0, lineCount);
  const fields = parseRecords([isPadded ? dropPadding(text, delimiter) : text], delimiter)[0];
  if (fields === null || fields === undefined) return [];
  const headers = fields.map((field, index) => (hasHeader ? field.trim().normalize('NFC') : String(index + 1)));
  return [{ delimiter, headers, headerLines: hasHeader ? lineCount : 0 }];
}

function weigh(dialect: CsvDialect, block: LineBlock, isMapped: (header: string) => boolean): Reading {
  return {
    dialect,
    mappedCount: dialect.headers.filter((header) => isMapped(header)).length,
    hasSeveral: dialect.headers.length > 1,
    agreement: measureAgreement(dialect, block),
  };
}

function measureAgreement({ delimiter, headers, headerLines }: CsvDialect, block: LineBlock): number {
  const tally: LineTally = { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 };
  const split = createRecordSplitter({ delimiter, columnCount: headers.length, path: '', file: null }, tally);
  const sample = sliceBlock(block, headerLines, headerLines + sampleLines);
  const records = split({ ...sample, isLast: true });
  return records.filter((record) => record.fault === null).length / Math.max(records.length, 1);
}
