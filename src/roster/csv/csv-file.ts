import { RosterError } from '../../errors.js';
import type { CsvSettings } from '../settings.js';
import { describeLowerHeader, type LineTally, startTally, type TableRecord } from '../table-reading.js';
import { type EncodingLabel, openDecoder } from './encodings.js';
import { candidates, findFirstRecord, findLowerHeader } from './first-record.js';
import { createRecordSplitter, type LineBlock, readFirstRecord, sliceBlock } from './record-splitter.js';
import { readSourceBytes } from './source-bytes.js';

interface FilePlace {
  path: string;
  name: string;
  /** The file name of its records when the roster has several files. */
  file: string | null;
  tally: LineTally;
  onBytes(bytes: Buffer): void;
}

/** Opens a file and reads its header. Throws RosterError for a file that is unreadable or not as declared. */
export async function openCsvFile(place: FilePlace, source: CsvSettings, isMapped: (header: string) => boolean) {
  const { name, file, tally } = place;
  const blocks = readLineBlocks(place, source.encoding);
  try {
    const { first, hinted } = await findFirstRecord(blocks, source, name, tally);
    const dialect = findDialect(first, withHint(source, hinted), isMapped, name);
    tally.lines += dialect.headerLines;
    tally.headers += dialect.headerLines;
    const { delimiter, endsWithDelimiter } = dialect;
    const shape = { delimiter, columnCount: dialect.headers.length, endsWithDelimiter };
    const records = splitBlocks(
      sliceBlock(first, dialect.headerLines),
      blocks,
      markTruncation(createRecordSplitter({ ...shape, path: name, file }, tally), shape.columnCount),
    );
    const mayBeTitled = source.header === true && !dialect.headers.some(isMapped);
    return {
      ...dialect,
      /** The probable header when the first record is none. */
      lowerHeader: mayBeTitled ? findLowerHeader(first, withHint(source, hinted).delimiter) : null,
      records,
      close: async () => {
        await records.return();
        // A generator that never started does not run its `finally`.
        await blocks.return();
      },
    };
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

/** Finds the header below a title; null when the first record may be the header. Throws like `openCsvFile`. */
export async function findTitledHeader(path: string, source: CsvSettings): Promise<ReturnType<typeof findLowerHeader>> {
  const tally = startTally();
  const blocks = readLineBlocks({ path, name: path, file: null, tally, onBytes: () => undefined }, source.encoding);
  try {
    const { first, hinted } = await findFirstRecord(blocks, source, path, tally);
    return findLowerHeader(first, withHint(source, hinted).delimiter);
  } finally {
    await blocks.return();
  }
}

/** Marks the last row of a file that ends without a line ending. If it is incomplete, the file was truncated. */
function markTruncation(split: (block: LineBlock) => readonly TableRecord[], columnCount: number) {
  return (block: LineBlock): readonly TableRecord[] => {
    const records = split(block);
    const last = records.at(-1);
    if (!block.isOpen || last === undefined) return records;
    const isShort = last.fields.length > 1 && last.fields.length < columnCount;
    const isCut = last.fault !== null && isShort;
    return [...records.slice(0, -1), { ...last, isOpen: true, ...(isCut && { isCut }) }];
  };
}

async function* splitBlocks(
  first: LineBlock,
  blocks: LineBlocks,
  split: (block: LineBlock) => readonly TableRecord[],
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  try {
    yield split(first);
    for await (const block of blocks) yield split(block);
  } finally {
    await blocks.return();
  }
}

/** The configured delimiter wins over that of the file. */
function withHint(source: CsvSettings, delimiter: string | undefined): CsvSettings {
  return delimiter === undefined || source.delimiter !== 'auto' ? source : { ...source, delimiter };
}

type LineBlocks = AsyncGenerator<LineBlock, void, undefined>;

/** The longest physical line, in bytes; a longer one means that the file is no roster. */
const maxLineBytes = 1024 * 1024;

const byteOrderMark = '\ufeff';
/** Ended a file under DOS. */
const endOfFile = '\x1a';

/**
 * Splits the bytes of a file into physical lines, without its byte order mark and the end-of-file mark of DOS. Throws
 * RosterError `encoding` with line and byte of the first invalid byte, and `line_too_long` past `maxLineBytes`.
 */
async function* readLineBlocks(place: FilePlace, encoding: 'auto' | EncodingLabel): LineBlocks {
  const { name } = place;
  let decoder: ReturnType<typeof openDecoder> | null = null;
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let offset = 0;
  for await (const { chunk, isLast } of markLast(readSourceBytes(place.path, (bytes) => place.onBytes(bytes)))) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    decoder ??= openDecoder(rest, encoding, name);
    const { label } = decoder;
    const unitBytes = label.startsWith('utf-16') ? 2 : 1;
    const end = isLast ? rest.length : unitBytes === 1 ? findLineEnd(rest) : findWideLineEnd(rest, label);
    if (end > 0) {
      const text = decoder.decode(rest.subarray(0, end), offset, line);
      const block = toLineBlock(offset === 0 ? withoutMark(text) : text, line, isLast);
      offset += end;
      line += block.texts.length;
      rest = rest.subarray(end);
      yield block;
    }
    if (rest.length > maxLineBytes * unitBytes) {
      throw new RosterError('line_too_long', `${name}: line ${line} is longer than ${maxLineBytes} bytes.`);
    }
  }
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

async function* markLast(
  chunks: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<{ chunk: Buffer; isLast: boolean }, void, undefined> {
  try {
    let current = await chunks.next();
    while (!current.done) {
      const next = await chunks.next();
      yield { chunk: current.value, isLast: next.done === true };
      current = next;
    }
  } finally {
    await chunks.return();
  }
}

/** A CR at the end of the bytes may be half of a CRLF, so it ends no line yet. */
function findLineEnd(bytes: Buffer): number {
  const beforeLast = bytes.length - 2;
  return Math.max(bytes.lastIndexOf(0x0a), beforeLast >= 0 ? bytes.lastIndexOf(0x0d, beforeLast) : -1) + 1;
}

function findWideLineEnd(bytes: Buffer, label: EncodingLabel): number {
  const [low, high] = label === 'utf-16le' ? [0, 1] : [1, 0];
  const lastUnit = bytes.length - (bytes.length % 2) - 2;
  for (let at = lastUnit; at >= 0; at -= 2) {
    if (bytes[at + high] !== 0) continue;
    const unit = bytes[at + low];
    if (unit === 0x0a || (unit === 0x0d && at < lastUnit)) return at + 2;
  }
  return 0;
}

function toLineBlock(given: string, firstLine: number, isLast: boolean): LineBlock {
  const text = isLast ? withoutEndOfFile(given) : given;
  const hasQuote = text.includes('"');
  const { texts, endings } = splitLines(text, hasQuote);
  const isOpen = isLast && texts.at(-1) !== '';
  // No line follows the last ending.
  if (texts.at(-1) === '') texts.pop();
  return { firstLine, texts, endings, hasQuote, isLast, isOpen };
}

function splitLines(text: string, hasQuote: boolean): { texts: string[]; endings: string | readonly string[] } {
  if (!text.includes('\r')) return { texts: text.split('\n'), endings: '\n' };
  // Endings matter only within quotes.
  if (!hasQuote) return { texts: text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n'), endings: '\n' };
  if (!/\r(?!\n)|(?<!\r)\n/.test(text)) return { texts: text.split('\r\n'), endings: '\r\n' };
  return { texts: text.split(/\r\n|\r|\n/), endings: text.match(/\r\n|\r|\n/g) ?? [] };
}

function withoutEndOfFile(text: string): string {
  const end = /(?<![\r\n])[\r\n]*$/.exec(text.slice(-4))?.[0].length ?? 0;
  let at = text.length - end;
  while (at > 0 && text[at - 1] === endOfFile) at -= 1;
  return at === text.length - end ? text : text.slice(0, at) + text.slice(text.length - end);
}

/** How many lines after the first record are compared with it. */
const sampleLines = 200;

/** One row without the ending delimiter needs so many rows with it. */
const endingsForEach = 9;

const maxColumns = 5_000;

interface CsvDialect {
  delimiter: string;
  headers: readonly string[];
  headerLines: number;
  /** Whether rows end with one more delimiter than the header. */
  endsWithDelimiter: boolean;
}

/** A dialect read from the first record alone, and the lines of that record. */
interface FirstRecord {
  dialect: CsvDialect;
  lineCount: number;
  fields: readonly string[];
}

/**
 * Finds the dialect from the block that begins with the first record. `auto` chooses among `,` `;` tab `|` by, in this
 * order: most mapped columns, more than one column, most agreement of the following rows, most columns. Throws
 * RosterError `not_a_table` for JSON, `header_malformed` for invalid quotes in the first record, and `too_many_columns`.
 */
function findDialect(
  block: LineBlock,
  source: CsvSettings,
  isMapped: (header: string) => boolean,
  path: string,
): CsvDialect {
  const delimiters = source.delimiter === 'auto' ? candidates : [source.delimiter];
  const best = delimiters
    .flatMap((delimiter) => readDialect(block, delimiter, source.header !== false))
    .map((first) => weigh(first, block, isMapped))
    .sort(
      (one, other) =>
        other.mappedCount - one.mappedCount ||
        Number(other.hasSeveral) - Number(one.hasSeveral) ||
        other.agreement - one.agreement ||
        other.dialect.headers.length - one.dialect.headers.length,
    )[0]?.dialect;
  // A first line with a mapped header is a header, even if it looks like JSON. JSON has invalid quotes, so it is reported before these.
  if (!source.header || !best?.headers.some(isMapped)) refuseJson(block.texts[0] ?? '', path);
  if (best === undefined) {
    const what = source.header ? 'header' : 'first row';
    const lower = findLowerHeader(block, source.delimiter);
    throw new RosterError(
      'header_malformed',
      `${path}: the quotes of the ${what} (line ${block.firstLine}) are invalid. ` +
        (lower === null
          ? 'A quoted field ends with a quote before the delimiter; a quote within it is written twice.'
          : describeLowerHeader(lower.line)),
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
  const first = readFirstRecord(block, delimiter);
  if (first === null) return [];
  const { lineCount, fields } = first;
  const headers = fields.map((field, index) => (hasHeader ? field.trim().normalize('NFC') : String(index + 1)));
  const dialect = { delimiter, headers, headerLines: hasHeader ? lineCount : 0, endsWithDelimiter: false };
  return [{ dialect, lineCount, fields }];
}

function weigh(first: FirstRecord, block: LineBlock, isMapped: (header: string) => boolean) {
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
 * Whether the following rows end with a delimiter that the first record lacks: nine of ten rows at least, against rows
 * with the same field count. A surplus comma may also be part of a name (`1,Lee, Ann,` has an empty last field), so a
 * single row, or rows with a blank after a comma, prove nothing.
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
  const tally = startTally();
  const shape = { delimiter, columnCount: headers.length, endsWithDelimiter };
  const split = createRecordSplitter({ ...shape, path: '', file: null }, tally);
  return split({ ...sliceBlock(block, from, from + sampleLines), isLast: true });
}

function refuseJson(firstLine: string, path: string): void {
  if (!/^\s*(\{\s*("|$)|\[\s*(\{|\[|$))/.test(firstLine)) return;
  throw new RosterError('not_a_table', `${path} is JSON, not CSV. Export it as CSV UTF-8.`);
}
