import { type Options, parse } from 'csv-parse/sync';
import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';

/** A record with quotes before its parsing. */
interface QuotedRecord extends Pick<TableRecord, 'line' | 'file' | 'fault'> {
  text: string;
}

/**
 * Creates the function that splits lines into records, without blank ones, and counts them in `tally`. When an open
 * quote leads to no valid record, only its own line is malformed and reading continues with the next line. So a line
 * that reads as a whole row is never lost in a neighbour. Throws RosterError `not_a_table` when no valid records
 * follow.
 */
export function createRecordSplitter(
  settings: {
    delimiter: string;
    columnCount: number;
    /** Whether a record ends with one more delimiter. */
    endsWithDelimiter: boolean;
    path: string;
    /** The file name of the records when the roster has several files. */
    file: string | null;
  },
  tally: LineTally,
) {
  const { delimiter, file, columnCount } = settings;
  const fieldsPerRecord = columnCount + Number(settings.endsWithDelimiter);
  const shape: RecordShape = { delimiter, fieldsPerRecord };
  const guard = new SoundnessGuard(settings.path, columnCount);
  /** The last lines so far, if the lines after them decide where their record ends. */
  let waiting: LineBlock | null = null;
  let lastSound: string | null = null;

  const count = (text: string, line: number, isSound: boolean) => {
    tally.records += 1;
    if (isSound) {
      guard.noteSound();
      lastSound = text;
    } else guard.noteUnsound(text.length, line);
  };
  /** Takes a line without a value. An incomplete row at the end of the file is none: it shows that the file was truncated. */
  const takeBlank = (text: string, line: number, isCut: boolean): boolean => {
    if (!isBlank(text, delimiter) || (isCut && isShort(text))) return false;
    tally.blanks += 1;
    // A spreadsheet writes many lines of delimiters alone; these are rows of the table.
    if (!text.includes(delimiter)) guard.noteUnsound(1, line);
    return true;
  };
  const isShort = (text: string): boolean => {
    const fieldCount = countDelimiters(text, delimiter, 0) + 1;
    return fieldCount > 1 && fieldCount < columnCount;
  };
  const takePlain = (text: string, line: number): TableRecord => {
    const fields = text.split(delimiter);
    const isSound = fields.length === fieldsPerRecord;
    count(text, line, isSound);
    return { line, file, fields, fault: isSound ? null : 'wrong_column_count' };
  };
  const takePlainLines = (block: LineBlock): TableRecord[] =>
    block.texts.flatMap((text, at) => {
      const line = block.firstLine + at;
      return takeBlank(text, line, isCutAt(block, at)) ? [] : takePlain(text, line);
    });
  /** Takes lines with and without quotes; `rest` are the lines of which later ones decide. */
  const takeQuotedLines = (block: LineBlock): { records: TableRecord[]; rest: LineBlock | null } => {
    const found: (TableRecord | QuotedRecord)[] = [];
    let at = 0;
    while (at < block.texts.length) {
      const first = block.texts[at] ?? '';
      const line = block.firstLine + at;
      if (takeBlank(first, line, isCutAt(block, at))) {
        at += 1;
        continue;
      }
      if (!first.includes(quote)) {
        found.push(takePlain(first, line));
        at += 1;
        continue;
      }
      const measure = measureRecord(block.texts, at, block.isLast, shape, lastSound);
      if (measure.kind === 'undecided') {
        return { records: parseQuoted(found, delimiter), rest: sliceBlock(block, at) };
      }
      if (measure.kind === 'malformed') {
        count(first, line, false);
        found.push({ line, file, fields: first.split(delimiter), fault: 'malformed_csv' });
        at += 1;
        continue;
      }
      const { lineCount, fieldCount } = measure;
      const text = joinLines(block, at, lineCount);
      const isSound = fieldCount === fieldsPerRecord;
      count(text, line, isSound);
      tally.continuations += lineCount - 1;
      found.push({ line, file, fault: isSound ? null : 'wrong_column_count', text });
      at += lineCount;
    }
    return { records: parseQuoted(found, delimiter), rest: null };
  };

  return (block: LineBlock): TableRecord[] => {
    tally.lines += block.texts.length;
    const whole = waiting === null ? block : joinBlocks(waiting, block);
    const { records, rest } = whole.hasQuote ? takeQuotedLines(whole) : { records: takePlainLines(whole), rest: null };
    waiting = rest;
    if (settings.endsWithDelimiter) for (const record of records) dropLastField(record, fieldsPerRecord);
    return records;
  };
}

/** Whether the file ends within this line. */
const isCutAt = (block: LineBlock, at: number): boolean => block.isOpen && at === block.texts.length - 1;

/** Removes the empty field after the last delimiter. A record without this field and its delimiter is complete too. */
function dropLastField(record: TableRecord, fieldsPerRecord: number): void {
  const { fields, fault } = record;
  const isLastEmpty = fields.at(-1)?.trim() === '';
  if (fault === null && isLastEmpty) record.fields = fields.slice(0, -1);
  else if (fault === null) record.fault = 'wrong_column_count';
  else if (fault === 'wrong_column_count' && fields.length === fieldsPerRecord - 1 && !isLastEmpty) record.fault = null;
}

/**
 * Parses the quoted ones of the records together, which is faster than one by one. A record that csv-parse cannot read is malformed too, even
 * if its quotes are valid.
 */
function parseQuoted(found: readonly (TableRecord | QuotedRecord)[], delimiter: string): TableRecord[] {
  const texts = found.flatMap((each) => ('text' in each ? [each.text] : []));
  const parsed = parseRecords(texts, delimiter).values();
  return found.map((each): TableRecord => {
    if (!('text' in each)) return each;
    const { line, file, fault, text } = each;
    const fields = parsed.next().value;
    if (fields) return { line, file, fields, fault };
    return { line, file, fields: text.split(delimiter), fault: 'malformed_csv' };
  });
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
  fieldsPerRecord: number;
}

/** The most physical lines of one record. Only lines whose quotes open a field are joined with others. */
const maxRecordLines = 10_000;

/** `malformed`: the first line is, and the next one begins another record. `undecided`: lines that are not read yet decide. */
type RecordMeasure =
  | { kind: 'record'; lineCount: number; fieldCount: number }
  | { kind: 'malformed' }
  | { kind: 'undecided' };

const malformed: RecordMeasure = { kind: 'malformed' };
const undecided: RecordMeasure = { kind: 'undecided' };

/**
 * Measures the record that begins with the line at `from`, which has a quote; `isLast` says that no more lines follow. A record ends where its
 * quotes close. But one surplus quote can hide the next row. By their quotes alone, these two rows are one record of three columns:
 *
 *     C-1,"Ada
 *     C-2,Ben",Oslo
 *
 * So the first line is malformed, and each line stays separate, in these cases:
 * 1. A quote is within a field.
 * 2. A line after the first is a whole row, and the field stays open or the first line is a whole row too.
 * 3. A line closes the field and looks like a row with a surplus quote, as C-2 above (`earlier` is a previous valid record).
 * 4. The quotes do not close before the end of the file or the limits of a record.
 * 5. The record has not as many fields as the table.
 */
function measureRecord(
  lines: readonly string[],
  from: number,
  isLast: boolean,
  shape: RecordShape,
  earlier: string | null,
): RecordMeasure {
  const { delimiter, fieldsPerRecord } = shape;
  const first = lines[from] ?? '';
  let scan = scanQuotes(first, delimiter, null);
  if (scan.state === 'closed') return toMeasure(1, scan);
  if (scan.state === 'malformed') return malformed;
  const firstCount = scan.fieldCount + countDelimiters(first, delimiter, scan.openedAt);
  const isFirstWhole = isWholeCount(firstCount, first, shape);
  // The text before the first delimiter is the first field only if that field is closed.
  const example = scan.fieldCount > 1 ? first : earlier;
  const idBefore = example === null ? null : readStart(example, delimiter);
  let length = first.length;
  for (let count = 1; count < maxRecordLines; count += 1) {
    const next = lines[from + count];
    if (next === undefined) return isLast ? malformed : undecided;
    length += next.length;
    if (length > maxRecordLength) return malformed;
    const openField = scan.fieldCount;
    scan = scanQuotes(next, delimiter, scan);
    if (scan.state === 'malformed') return malformed;
    const isOpen = scan.state === 'open';
    if ((isOpen || isFirstWhole) && isWholeRow(next, shape)) return malformed;
    const isFieldClosed = !isOpen || scan.fieldCount > openField;
    if (isFieldClosed && reachesField(next, delimiter, openField)) {
      const hasId = idBefore !== null && isLikeId(idBefore);
      const isRow = hasId ? haveSameShape(idBefore, readStart(next, delimiter)) : firstCount >= fieldsPerRecord;
      if (isRow) return malformed;
    }
    if (!isOpen) return scan.fieldCount === fieldsPerRecord ? toMeasure(count + 1, scan) : malformed;
  }
  return malformed;
}

/** Reads a block's first record before the column count is known. Null for invalid quotes. */
export function readFirstRecord(
  block: LineBlock,
  delimiter: string,
): { lineCount: number; fields: readonly string[] } | null {
  const measure = measureFirstRecord(block.texts, block.isLast, delimiter);
  if (measure.kind !== 'record') return null;
  const { lineCount } = measure;
  const [fields] = parseRecords([joinLines(block, 0, lineCount)], delimiter);
  return fields === null || fields === undefined ? null : { lineCount, fields };
}

/** Takes the field count from where the quotes close, and then measures as for any other record, with its refusals. */
function measureFirstRecord(lines: readonly string[], isLast: boolean, delimiter: string): RecordMeasure {
  let scan: QuoteScan | null = null;
  for (let count = 0; count < maxRecordLines; count += 1) {
    const line = lines[count];
    if (line === undefined) return isLast ? malformed : undecided;
    scan = scanQuotes(line, delimiter, scan);
    if (scan.state === 'malformed') return malformed;
    if (scan.state === 'closed') {
      return measureRecord(lines, 0, isLast, { delimiter, fieldsPerRecord: scan.fieldCount }, null);
    }
  }
  return malformed;
}

function toMeasure(lineCount: number, { fieldCount }: QuoteScan): RecordMeasure {
  return { kind: 'record', lineCount, fieldCount };
}

function isWholeRow(text: string, shape: RecordShape): boolean {
  if (isWholeCount(countDelimiters(text, shape.delimiter, 0) + 1, text, shape)) return true;
  const scan = scanQuotes(text, shape.delimiter, null);
  return scan.state === 'closed' && scan.fieldCount === shape.fieldsPerRecord;
}

/** Whether a line is a whole row when quotes are ignored; a doubled quote may hide that some delimiters are text. */
function isWholeCount(count: number, text: string, { fieldsPerRecord }: RecordShape): boolean {
  return count === fieldsPerRecord || (count > fieldsPerRecord && text.includes('""'));
}

/** Whether a line has as many delimiters before its first closing quote as a separate row has before this field. */
function reachesField(text: string, delimiter: string, field: number): boolean {
  const closing = findClosingQuote(text, 0);
  return countDelimiters(text.slice(0, Math.max(closing, 0)), delimiter, 0) >= field - 1;
}

/** The first field of a row, usually its id. */
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
  let openedAt = 0;
  for (let at = 0; ; ) {
    if (!isOpen) {
      const opening = skipSpaces(text, at);
      if (text[opening] !== quote) {
        const end = text.indexOf(delimiter, at);
        const stray = text.indexOf(quote, at);
        if (stray >= 0 && (end < 0 || stray < end)) return { state: 'malformed', fieldCount, openedAt };
        if (end < 0) return { state: 'closed', fieldCount, openedAt };
        fieldCount += 1;
        at = end + delimiter.length;
        continue;
      }
      isOpen = true;
      openedAt = opening + 1;
      at = openedAt;
    }
    const closing = findClosingQuote(text, at);
    if (closing < 0) return { state: 'open', fieldCount, openedAt };
    isOpen = false;
    const behind = skipSpaces(text, closing + 1);
    if (behind >= text.length) return { state: 'closed', fieldCount, openedAt };
    if (!text.startsWith(delimiter, behind)) return { state: 'malformed', fieldCount, openedAt };
    fieldCount += 1;
    at = behind + delimiter.length;
  }
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
    // Trimmed, a record may have spaces between its quotes and delimiters.
    const alone = tryParse(text, delimiter) ?? tryParse(text, delimiter, true);
    return alone?.length === 1 ? (alone[0] ?? null) : null;
  });
}

function tryParse(text: string, delimiter: string, isTrimmed = false): string[][] | null {
  const options: Options = {
    delimiter,
    trim: isTrimmed,
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
