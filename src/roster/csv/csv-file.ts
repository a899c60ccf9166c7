import { RosterError } from '../../errors.js';
import type { CsvSettings } from '../settings.js';
import type { LineTally, TableRecord } from '../table-reading.js';
import { type EncodingLabel, openDecoder } from './encodings.js';
import {
  createRecordSplitter,
  isBlank,
  type LineBlock,
  readFirstRecord,
  SoundnessGuard,
  sliceBlock,
} from './record-splitter.js';
import { readSourceBytes } from './source-bytes.js';

/** One file of a table, opened behind its header. */
export interface CsvFile extends CsvDialect {
  /** The records of each block of lines. */
  records: AsyncGenerator<readonly TableRecord[], void, undefined>;
  /** Gives up what has not been read; harmless at any time. */
  close(): Promise<void>;
}

/** What a table knows of its file. */
interface FilePlace {
  path: string;
  /** How messages call it. */
  name: string;
  /** The file of its records, where the roster has several. */
  file: string | null;
  tally: LineTally;
  onBytes(bytes: Buffer): void;
}

/**
 * Opens a file and reads its header; throws RosterError when it cannot be read, holds nothing, or is not written as declared.
 */
export async function openCsvFile(
  place: FilePlace,
  source: CsvSettings,
  isMapped: (header: string) => boolean,
): Promise<CsvFile> {
  const { name, file, tally } = place;
  const blocks = readLineBlocks(place, source.encoding);
  try {
    const { first, hinted } = await findFirstRecord(blocks, place);
    const dialect = findTableDialect(first, withHint(source, hinted), isMapped, name);
    tally.lines += dialect.headerLines;
    tally.headers += dialect.headerLines;
    const { delimiter, endsWithDelimiter } = dialect;
    const shape = { delimiter, columnCount: dialect.headers.length, endsWithDelimiter };
    const records = splitBlocks(
      sliceBlock(first, dialect.headerLines),
      blocks,
      markCut(createRecordSplitter({ ...shape, path: name, file }, tally), shape.columnCount),
    );
    return {
      ...dialect,
      records,
      close: async () => {
        await records.return();
        // What was given up before its first record has not handed the file on to anybody who closes it.
        await blocks.return();
      },
    };
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

/** A header that the mapping asks for is one, whatever it looks like; else what begins like JSON is called so. */
function findTableDialect(...[first, source, isMapped, name]: Parameters<typeof findDialect>): CsvDialect {
  try {
    const dialect = findDialect(first, source, isMapped, name);
    if (!source.header || !dialect.headers.some(isMapped)) refuseJson(first.texts[0] ?? '', name);
    return dialect;
  } catch (error) {
    // Its quotes make no sense as CSV, which would lead astray.
    refuseJson(first.texts[0] ?? '', name);
    throw error;
  }
}

/** Gives the first block that holds more than blank lines, from its first such line on; a line before it that names the delimiter is counted with the header. */
async function findFirstRecord(
  blocks: LineBlocks,
  { name, tally }: FilePlace,
): Promise<{ first: LineBlock; hinted: string | undefined }> {
  const guard = new SoundnessGuard(name, 1);
  let hinted: string | undefined;
  for (;;) {
    const block = await blocks.next();
    if (block.done) {
      throw new RosterError('roster_empty', `${name} is empty. Nothing was changed; check the export that writes it.`);
    }
    const hint = takeDelimiterHint(block.value);
    if (hint !== null) {
      hinted = hint.delimiter;
      tally.lines += 1;
      tally.headers += 1;
    }
    const { rest } = hint ?? { rest: block.value };
    const found = rest.texts.findIndex((text) => !isBlank(text));
    const blanks = found < 0 ? rest.texts.length : found;
    for (let at = 0; at < blanks; at += 1) guard.noteUnsound(1, rest.firstLine + at);
    tally.lines += blanks;
    tally.blanks += blanks;
    if (found >= 0) return { first: sliceBlock(rest, found), hinted };
  }
}

/** A file that ends within a line, and a line that ends within a row, was cut off where it was written or copied. */
function markCut(split: (block: LineBlock) => readonly TableRecord[], columnCount: number) {
  return (block: LineBlock): readonly TableRecord[] => {
    const records = split(block);
    const last = records.at(-1);
    if (!block.isOpen || last === undefined || last.fault === null) return records;
    const isShort = last.fields.length > 1 && last.fields.length < columnCount;
    return isShort ? [...records.slice(0, -1), { ...last, isCut: true }] : records;
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

// No letter, digit, space or quote, as in the configuration; some programs fill the line up with empty fields.
const hint = /^"?sep=([^"\p{L}\p{N}\p{Cs} ])"?\1*$/iu;

/** The first line of a file that reports spreadsheets its delimiter (`sep=;`), taken off; null where there is none. */
function takeDelimiterHint(block: LineBlock): { delimiter: string; rest: LineBlock } | null {
  if (block.firstLine !== 1) return null;
  const delimiter = hint.exec(block.texts[0] ?? '')?.[1];
  return delimiter === undefined ? null : { delimiter, rest: sliceBlock(block, 1) };
}

/** What a source says of the delimiter counts; else what the file says. */
function withHint(source: CsvSettings, delimiter: string | undefined): CsvSettings {
  return delimiter === undefined || source.delimiter !== 'auto' ? source : { ...source, delimiter };
}

/** Blocks of lines as they come. */
type LineBlocks = AsyncGenerator<LineBlock, void, undefined>;

/** The longest physical line, in bytes; beyond it a file is no roster. */
const maxLineBytes = 1024 * 1024;

const byteOrderMark = '\ufeff';
/** Closed a file under DOS. */
const endOfFile = '\x1a';

/**
 * Takes the bytes of a file apart into its physical lines, without its byte order mark and without what DOS wrote behind the last line.
 * Throws RosterError `encoding` with line and byte at the first byte that is not of the encoding, `line_too_long` past `maxLineBytes`.
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

/** A CR that is the last byte so far may be half of a CRLF, so it ends no line yet. */
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
  // Behind the last ending there is no line.
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
  const end = /[\r\n]*$/.exec(text.slice(-4))?.[0].length ?? 0;
  let at = text.length - end;
  while (at > 0 && text[at - 1] === endOfFile) at -= 1;
  return at === text.length - end ? text : text.slice(0, at) + text.slice(text.length - end);
}

const candidates = [',', ';', '\t', '|'];

/** How many lines behind the first record are asked whether they agree with it. */
const sampleLines = 200;

/** For each row without it so many have to end with a delimiter for it to belong to how the file is written. */
const endingsForEach = 9;

/** The most columns of a table. */
const maxColumns = 5_000;

/** How a file is written, and its columns. */
interface CsvDialect {
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

/**
 * Finds how a file is written by the block that begins with its first record. With `auto` the delimiter is the one of `,` `;` tab `|`
 * that shows the most mapped columns, then more than one, then the most agreement of the rows that follow, then the most columns.
 * Throws RosterError `header_malformed` when the quotes of the first record make no sense, `too_many_columns`.
 */
function findDialect(
  block: LineBlock,
  source: CsvSettings,
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
 * Says whether rows behind the first record end with a delimiter that it has not, nine of ten at least beside those that have as many fields
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

/** Throws RosterError `not_a_table` where the first line of a table can only be that of JSON. */
function refuseJson(firstLine: string, path: string): void {
  if (!/^\s*(\{\s*("|$)|\[\s*(\{|\[|$))/.test(firstLine)) return;
  throw new RosterError('not_a_table', `${path} is JSON, not CSV. Export it as CSV UTF-8.`);
}
