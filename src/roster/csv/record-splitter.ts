import { type Options, parse } from 'csv-parse/sync';
import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';

/** A record with quotes, to be parsed with others; `text` lacks the padding of `original`. */
interface QuotedRecord {
  record: TableRecord;
  text: string;
  original: string;
}

/**
 * Creates the function that splits lines into records, without blank ones, and counts them in `tally`. When an open
 * quote leads to no valid record, only its own line is malformed and reading continues with the next line. So a line
 * that reads as a whole row is never lost in a neighbour. Throws RosterError `not_a_table` when no valid records
 * follow.
 */
export function createRecordSplitter(
  settings: RecordShape & {
    /** Whether a record ends with one more delimiter. */
    endsWithDelimiter: boolean;
    path: string;
    /** The file name of the records when the roster has several files. */
    file: string | null;
  },
  tally: LineTally,
) {
  const { delimiter, file } = settings;
  const columnCount = settings.columnCount + Number(settings.endsWithDelimiter);
  const shape: RecordShape = { delimiter, columnCount };
  const guard = new SoundnessGuard(settings.path, settings.columnCount);
  let waiting: LineBlock | null = null;
  let lastSound: string | null = null;

  const note = (isSound: boolean, text: string, line: number) => {
    tally.records += 1;
    if (isSound) {
      guard.noteSound();
      lastSound = text;
    } else guard.noteUnsound(text.length, line);
  };
  /** Takes a line without a value; an incomplete one at the end of the file shows that the file was truncated. */
  const takeBlank = (text: string, line: number, isCut: boolean): boolean => {
    if (!isBlank(text, delimiter) || (isCut && isShort(text))) return false;
    tally.blanks += 1;
    // A spreadsheet writes many lines of delimiters alone; these are rows of the table.
    if (!text.includes(delimiter)) guard.noteUnsound(1, line);
    return true;
  };
  const isShort = (text: string): boolean => {
    const count = countDelimiters(text, delimiter, 0) + 1;
    return count > 1 && count < settings.columnCount;
  };
  const takePlain = (text: string, line: number, records: TableRecord[], isCut: boolean) => {
    if (takeBlank(text, line, isCut)) return;
    const fields = text.split(delimiter);
    const isSound = fields.length === columnCount;
    note(isSound, text, line);
    records.push({ line, file, fields, fault: isSound ? null : 'wrong_column_count' });
  };
  const takeMixed = (block: LineBlock, records: TableRecord[]) => {
    const quoted: QuotedRecord[] = [];
    for (let at = 0; at < block.texts.length; ) {
      const first = block.texts[at] ?? '';
      const line = block.firstLine + at;
      const isCut = block.isOpen && at === block.texts.length - 1;
      if (!first.includes(quote)) {
        takePlain(first, line, records, isCut);
        at += 1;
        continue;
      }
      if (takeBlank(first, line, isCut)) {
        at += 1;
        continue;
      }
      const { lineCount, fieldCount, isPadded } = measureRecord(block.texts, at, block.isLast, shape, lastSound);
      if (lineCount === null) {
        waiting = sliceBlock(block, at);
        break;
      }
      if (lineCount === 0) {
        note(false, first, line);
        records.push({ line, file, fields: first.split(delimiter), fault: 'malformed_csv' });
        at += 1;
        continue;
      }
      const original = joinLines(block, at, lineCount);
      const isSound = fieldCount === columnCount;
      note(isSound, original, line);
      tally.continuations += lineCount - 1;
      const record: TableRecord = { line, file, fields: [], fault: isSound ? null : 'wrong_column_count' };
      records.push(record);
      quoted.push({ record, text: isPadded ? dropPadding(original, delimiter) : original, original });
      at += lineCount;
    }
    parseQuoted(quoted, delimiter);
  };

  return (block: LineBlock): TableRecord[] => {
    tally.lines += block.texts.length;
    const whole = waiting === null ? block : joinBlocks(waiting, block);
    waiting = null;
    const records: TableRecord[] = [];
    if (whole.hasQuote) takeMixed(whole, records);
    else {
      for (let at = 0; at < whole.texts.length; at += 1) {
        const isCut = whole.isOpen && at === whole.texts.length - 1;
        takePlain(whole.texts[at] ?? '', whole.firstLine + at, records, isCut);
      }
    }
    if (settings.endsWithDelimiter) for (const record of records) dropLastField(record, columnCount);
    return records;
  };
}

/** Removes the empty field after the last delimiter; a record without both is complete as well. */
function dropLastField(record: TableRecord, columnCount: number): void {
  const { fields, fault } = record;
  const isLastEmpty = fields.at(-1)?.trim() === '';
  if (fault === null && isLastEmpty) record.fields = fields.slice(0, -1);
  else if (fault === null) record.fault = 'wrong_column_count';
  else if (fault === 'wrong_column_count' && fields.length === columnCount - 1 && !isLastEmpty) record.fault = null;
}

/** A record that csv-parse cannot read is malformed too, even if its quotes are valid. */
function parseQuoted(quoted: readonly QuotedRecord[], delimiter: string): void {
  const texts = quoted.map(({ text }) => text);
  for (const [index, fields] of parseRecords(texts, delimiter).entries()) {
    const each = quoted[index];
    if (each === undefined) continue;
    each.record.fields = fields ?? each.original.split(delimiter);
    if (fields === null) each.record.fault = 'malformed_csv';
  }
}

/** Whether a line holds no value: only white space, delimiters, and pairs of quotes with nothing between them. */
export function isBlank(text: string, delimiters: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === quote && text[at + 1] === quote) at += 1;
    else if (!delimiters.includes(character) && character.trim() !== '') return false;
  }
  return true;
}

/** Consecutive physical lines of a file, without their endings. */
export interface LineBlock {
  firstLine: number;
  texts: readonly string[];
  /** The ending of each line (`\n`, `\r\n`, `\r`), or the ending that all lines share. */
  endings: string | readonly string[];
  /** False when no line has a quote: then only delimiters matter. */
  hasQuote: boolean;
  isLast: boolean;
  /** Whether it is the last block and its last line has no ending. */
  isOpen: boolean;
}

function joinLines(block: LineBlock, from: number, count: number): string {
  let text = block.texts[from] ?? '';
  for (let at = from + 1; at < from + count; at += 1) text += endingAt(block, at - 1) + (block.texts[at] ?? '');
  return text;
}

/** Gives the lines of a block from one of them on, up to `to`. */
export function sliceBlock(block: LineBlock, from: number, to = block.texts.length): LineBlock {
  const { texts, endings } = block;
  return {
    ...block,
    firstLine: block.firstLine + from,
    texts: texts.slice(from, to),
    endings: typeof endings === 'string' ? endings : endings.slice(from, to),
  };
}

function joinBlocks(one: LineBlock, other: LineBlock): LineBlock {
  const isUniform = typeof one.endings === 'string' && one.endings === other.endings;
  return {
    firstLine: one.firstLine,
    texts: [...one.texts, ...other.texts],
    endings: isUniform ? one.endings : [...listEndings(one), ...listEndings(other)],
    hasQuote: one.hasQuote || other.hasQuote,
    isLast: other.isLast,
    isOpen: other.isOpen,
  };
}

function listEndings(block: LineBlock): readonly string[] {
  return block.texts.map((_, at) => endingAt(block, at));
}

function endingAt({ endings }: LineBlock, at: number): string {
  return typeof endings === 'string' ? endings : (endings[at] ?? '');
}

/** After so many lines or UTF-16 units without a valid record, the file is not the table of its header. */
const maxUnsoundLines = 200_000;
const maxUnsoundLength = 64 * 1024 * 1024;

/** Ends the reading of a file that only begins like a table. */
export class SoundnessGuard {
  #lines = 0;
  #length = 0;

  constructor(
    readonly path: string,
    readonly columnCount: number,
  ) {}

  noteSound(): void {
    this.#lines = 0;
    this.#length = 0;
  }

  /** Throws RosterError `not_a_table` when the limit is exceeded. */
  noteUnsound(length: number, line: number): void {
    this.#lines += 1;
    this.#length += length;
    if (this.#lines <= maxUnsoundLines && this.#length <= maxUnsoundLength) return;
    throw new RosterError(
      'not_a_table',
      `${this.path}: none of the last ${this.#lines} lines up to line ${line} is a row of ${this.columnCount} columns. ` +
        'Check which file it is, its delimiter and its quotes.',
    );
  }
}

interface RecordShape {
  delimiter: string;
  columnCount: number;
}

/** The most physical lines of one record. Only lines whose quotes open a field are joined with others. */
const maxRecordLines = 10_000;

/** The lines of a record: 0 when its first line is malformed, null when later lines decide. */
interface RecordMeasure {
  lineCount: number | null;
  fieldCount: number;
  isPadded: boolean;
}

const malformed: RecordMeasure = { lineCount: 0, fieldCount: 0, isPadded: false };
const unknown: RecordMeasure = { lineCount: null, fieldCount: 0, isPadded: false };

/**
 * Measures the record that begins with the line at `from`, which has a quote; `isLast` says that no more lines follow.
 * Lines are joined only when no line after the first reads as a whole row, and the line that closes a quoted field does
 * not look like a row with a surplus quote (`earlier` is a previous valid record). Otherwise each line stays separate.
 */
function measureRecord(
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
  // The text before the first delimiter is the first field only if that field is closed.
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

/** Reads a block's first record before the column count is known. Null for invalid quotes. */
export function readFirstRecord(
  block: LineBlock,
  delimiter: string,
): { lineCount: number; fields: readonly string[] } | null {
  const { lineCount, isPadded } = measureFirstRecord(block.texts, block.isLast, delimiter);
  if (lineCount === null || lineCount === 0) return null;
  const text = joinLines(block, 0, lineCount);
  const [fields] = parseRecords([isPadded ? dropPadding(text, delimiter) : text], delimiter);
  return fields === null || fields === undefined ? null : { lineCount, fields };
}

function measureFirstRecord(lines: readonly string[], isLast: boolean, delimiter: string): RecordMeasure {
  let scan: QuoteScan | null = null;
  for (let count = 0; count < maxRecordLines; count += 1) {
    const line = lines[count];
    if (line === undefined) return isLast ? malformed : unknown;
    scan = scanQuotes(line, delimiter, scan);
    if (scan.state === 'malformed') return malformed;
    if (scan.state === 'open') continue;
    const shape = { delimiter, columnCount: scan.fieldCount };
    return count === 0 ? toMeasure(1, scan) : measureRecord(lines, 0, isLast, shape, null);
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

/** Whether a line is a whole row when quotes are ignored; a doubled quote may hide that some delimiters are text. */
function isWholeCount(count: number, text: string, { columnCount }: RecordShape): boolean {
  return count === columnCount || (count > columnCount && text.includes('""'));
}

/** Whether a line has as many fields before the quote that closes `place` as a separate row would have. */
function mayBeRow(text: string, delimiter: string, place: number): boolean {
  const closing = findClosingQuote(text, 0);
  return countDelimiters(text.slice(0, Math.max(closing, 0)), delimiter, 0) >= place - 1;
}

/** Whether such a line begins like a row; without ids in front, whether the line before may be a row. */
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

/** Whether two ids have the same separators and the same kinds of runs; a mixed run matches any kind. */
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

/** The state of a scan at the end of a physical line. */
interface QuoteScan {
  /** `closed`: the record may end here; `open`: the line ends within quotes; `malformed`: the quotes are invalid. */
  state: 'closed' | 'open' | 'malformed';
  fieldCount: number;
  /** Index in the last line after the quote that is still open. */
  openedAt: number;
  /** Whether there are spaces between a quote and its delimiter. */
  isPadded: boolean;
}

const quote = '"';

/**
 * Follows the quotes of one physical line, from the start of a record or from the middle of a quoted field.
 * A quote opens only at the start of a field (spaces before it allowed), is doubled within, and closes only at the end
 * of the field.
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

/** Removes the spaces between quotes and delimiters of a valid record. */
function dropPadding(text: string, delimiter: string): string {
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

function findClosingQuote(text: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 2)) {
    if (text[at + 1] !== quote) return at;
  }
  return -1;
}

const maxRecordLength = 1024 * 1024;

function parseRecords(texts: readonly string[], delimiter: string): (readonly string[] | null)[] {
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
