import { type Options, parse } from 'csv-parse/sync';

/** How the records of a table are written. */
export interface RecordShape {
  delimiter: string;
  columnCount: number;
}

/** The most physical lines of one record; a line whose quotes open a field is the only one from which others are looked at, so a high limit costs nothing. */
const maxRecordLines = 10_000;

/** How many lines a record takes: 0 when its first line is malformed, null when lines that have not come yet decide. */
interface RecordMeasure {
  lineCount: number | null;
  fieldCount: number;
  isPadded: boolean;
}

/** A reading of quotes that led nowhere. */
const malformed: RecordMeasure = { lineCount: 0, fieldCount: 0, isPadded: false };
const unknown: RecordMeasure = { lineCount: null, fieldCount: 0, isPadded: false };

/**
 * Measures the record that begins with the line at `from`, which has a quote; `isLast` says that no more lines follow.
 * Lines are joined only where no line after the first reads as a row by itself, and where a line that closes a quoted field does not
 * look like a row with a quote too many (`earlier` is a sound record before): then each line stands alone.
 */
export function measureRecord(
  lines: readonly string[],
  from: number,
  isLast: boolean,
  shape: RecordShape,
  earlier: string | null,
): RecordMeasure {
  const first = lines[from] ?? '';
  let scan = scanQuotes(first, shape.delimiter, null);
  if (scan.state === 'closed') return toMeasure(1, scan);
  if (scan.state === 'malformed') return malformed;
  const firstCount = scan.fieldCount + countDelimiters(first, shape.delimiter, scan.openedAt);
  const isFirstWhole = isWholeCount(firstCount, first, shape);
  // What stands before the first delimiter is the first field only where that field was not left open.
  const example = scan.fieldCount > 1 ? first : earlier;
  const start = example === null ? null : readStart(example, shape.delimiter);
  let length = first.length;
  for (let count = 1; count < maxRecordLines; count += 1) {
    const next = lines[from + count];
    if (next === undefined) return isLast ? malformed : unknown;
    length += next.length;
    if (length > maxRecordLength) return malformed;
    const before = scan.fieldCount;
    scan = scanQuotes(next, shape.delimiter, scan);
    if (scan.state === 'malformed') return malformed;
    const isOpen = scan.state === 'open';
    if ((isOpen || isFirstWhole) && isWholeRow(next, shape)) return malformed;
    const isClosing = !isOpen || scan.fieldCount > before;
    if (isClosing && mayBeRow(next, shape.delimiter, before) && isDoubtful(next, shape, start, firstCount)) {
      return malformed;
    }
    if (!isOpen) return scan.fieldCount === shape.columnCount ? toMeasure(count + 1, scan) : malformed;
  }
  return malformed;
}

/** Measures the first record of a table, whose column count nobody knows yet; lines that could be rows make it malformed. */
export function measureFirstRecord(
  lines: readonly string[],
  from: number,
  isLast: boolean,
  delimiter: string,
): RecordMeasure {
  let scan: QuoteScan | null = null;
  for (let count = 0; count < maxRecordLines; count += 1) {
    const line = lines[from + count];
    if (line === undefined) return isLast ? malformed : unknown;
    scan = scanQuotes(line, delimiter, scan);
    if (scan.state === 'malformed') return malformed;
    if (scan.state === 'open') continue;
    const shape = { delimiter, columnCount: scan.fieldCount };
    return count === 0 ? toMeasure(1, scan) : measureRecord(lines, from, isLast, shape, null);
  }
  return malformed;
}

function toMeasure(lineCount: number, { fieldCount, isPadded }: QuoteScan): RecordMeasure {
  return { lineCount, fieldCount, isPadded };
}

function isWholeRow(text: string, shape: RecordShape): boolean {
  if (isWholeCount(countDelimiters(text, shape.delimiter, 0) + 1, text, shape)) return true;
  const scan = scanQuotes(text, shape.delimiter, null);
  return scan.state === 'closed' && scan.fieldCount === shape.columnCount;
}

/** Tells whether a line would be a whole row if quotes meant nothing; a doubled quote may hide that some delimiters are text. */
function isWholeCount(count: number, text: string, { columnCount }: RecordShape): boolean {
  return count === columnCount || (count > columnCount && text.includes('""'));
}

/** Tells whether a line that closes the field of a given place has as many fields before that quote as a row of its own would have. */
function mayBeRow(text: string, delimiter: string, place: number): boolean {
  const closing = findClosingQuote(text, 0);
  return countDelimiters(text.slice(0, Math.max(closing, 0)), delimiter, 0) >= place - 1;
}

/** Tells whether such a line begins as rows do; where rows do not begin with an id, whether the line before may be a whole row too. */
function isDoubtful(text: string, { delimiter, columnCount }: RecordShape, start: string | null, firstCount: number) {
  if (start !== null && isLikeId(start)) return haveSameShape(start, readStart(text, delimiter));
  return firstCount >= columnCount;
}

function readStart(text: string, delimiter: string): string {
  const end = text.indexOf(delimiter);
  return (end < 0 ? text : text.slice(0, end)).replaceAll('"', '').trim();
}

function isLikeId(text: string): boolean {
  return /\d/.test(text) && !/\s/.test(text);
}

/** Tells whether two ids have the same signs between words and numbers, and the same kinds of these; a run of both may be any. */
function haveSameShape(one: string, other: string): boolean {
  const [shape, otherShape] = [one, other].map((text) => text.replaceAll(/[\p{L}\p{N}]+/gu, toKind));
  if (shape === undefined || otherShape === undefined || shape.length !== otherShape.length) return false;
  const otherKinds = [...otherShape];
  return [...shape].every((kind, at) => {
    const otherKind = otherKinds[at] ?? '';
    return kind === otherKind || (kind + otherKind).match(/^(?:x[a9]|[a9]x)$/) !== null;
  });
}

function toKind(run: string): string {
  if (/^\p{N}+$/u.test(run)) return '9';
  return /\p{N}/u.test(run) ? 'x' : 'a';
}

function countDelimiters(text: string, delimiter: string, from: number): number {
  let count = 0;
  for (let at = text.indexOf(delimiter, from); at >= 0; at = text.indexOf(delimiter, at + delimiter.length)) count += 1;
  return count;
}

/** Where a scan stands at the end of a physical line. */
interface QuoteScan {
  /** `closed`: the record may end here; `open`: inside quotes, it goes on; `malformed`: no reading of the quotes is valid. */
  state: 'closed' | 'open' | 'malformed';
  /** Fields begun so far. */
  fieldCount: number;
  /** Index in the last line just behind the quote that is still open. */
  openedAt: number;
  /** Whether spaces stand between a quote and the delimiter beside it. */
  isPadded: boolean;
}

const quote = '"';

/**
 * Follows the quotes of one physical line, from the start of a record or from the middle of a quoted field.
 * A quote opens only at the start of a field (spaces before it allowed), is doubled within, and closes only at the end of the field.
 */
function scanQuotes(text: string, delimiter: string, from: QuoteScan | null): QuoteScan {
  let fieldCount = from?.fieldCount ?? 1;
  let isOpen = from?.state === 'open';
  let isPadded = from?.isPadded ?? false;
  let openedAt = 0;
  for (let at = 0; ; ) {
    if (!isOpen) {
      const opening = skipSpaces(text, at);
      if (text[opening] !== quote) {
        const end = text.indexOf(delimiter, at);
        const stray = text.indexOf(quote, at);
        if (stray >= 0 && (end < 0 || stray < end)) return { state: 'malformed', fieldCount, openedAt, isPadded };
        if (end < 0) return { state: 'closed', fieldCount, openedAt, isPadded };
        fieldCount += 1;
        at = end + delimiter.length;
        continue;
      }
      if (opening > at) isPadded = true;
      isOpen = true;
      openedAt = opening + 1;
      at = openedAt;
    }
    const closing = findClosingQuote(text, at);
    if (closing < 0) return { state: 'open', fieldCount, openedAt, isPadded };
    isOpen = false;
    const behind = skipSpaces(text, closing + 1);
    if (behind > closing + 1) isPadded = true;
    if (behind >= text.length) return { state: 'closed', fieldCount, openedAt, isPadded };
    if (!text.startsWith(delimiter, behind)) return { state: 'malformed', fieldCount, openedAt, isPadded };
    fieldCount += 1;
    at = behind + delimiter.length;
  }
}

/** Gives a record whose quotes make sense without the spaces between quotes and delimiters. */
export function dropPadding(text: string, delimiter: string): string {
  const fields: string[] = [];
  for (let at = 0; ; ) {
    const opening = skipSpaces(text, at);
    if (text[opening] === quote) {
      const closing = findClosingQuote(text, opening + 1);
      fields.push(text.slice(opening, closing + 1));
      at = skipSpaces(text, closing + 1);
      if (at >= text.length) break;
    } else {
      const end = text.indexOf(delimiter, at);
      fields.push(end < 0 ? text.slice(at) : text.slice(at, end));
      if (end < 0) break;
      at = end;
    }
    at += delimiter.length;
  }
  return fields.join(delimiter);
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

/** Finds the quote that ends a quoted field, from within it; -1 where it goes on. */
function findClosingQuote(text: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 2)) {
    if (text[at + 1] !== quote) return at;
  }
  return -1;
}

/** The most UTF-16 units of one record. */
const maxRecordLength = 1024 * 1024;

/** Reads whole records with quotes, one text each, into their fields; null for a record that csv-parse does not read as exactly one. */
export function parseRecords(texts: readonly string[], delimiter: string): (readonly string[] | null)[] {
  if (texts.length === 0) return [];
  const together = tryParse(texts.join('\n'), delimiter);
  if (together?.length === texts.length) return together;
  return texts.map((text) => {
    const alone = tryParse(text, delimiter);
    return alone?.length === 1 ? (alone[0] ?? null) : null;
  });
}

function tryParse(text: string, delimiter: string): string[][] | null {
  const options: Options = {
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    // In bytes; a UTF-16 unit is at most three bytes of UTF-8.
    max_record_size: 3 * maxRecordLength,
  };
  try {
    return parse(text, options);
  } catch {
    return null;
  }
}
