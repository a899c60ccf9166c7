import { isUtf8 } from 'node:buffer';
import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';
import { type CsvDialect, type CsvSource, findDialect } from './dialect.js';
import { createTextDecoder, type DecodeText, detectEncoding, type EncodingLabel, guessEncoding } from './encodings.js';
import {
  createRecordSplitter,
  createSoundnessGuard,
  isBlank,
  type LineBlock,
  type SplitRecords,
  sliceBlock,
} from './record-splitter.js';
import { type Chunks, readSourceBytes, refuseJson } from './source-bytes.js';

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
  source: CsvSource,
  isMapped: (header: string) => boolean,
): Promise<CsvFile> {
  const { name, file, tally } = place;
  const blocks = readLineBlocks(
    readSourceBytes(place.path, (bytes) => place.onBytes(bytes)),
    source.encoding,
    name,
  );
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
  const guard = createSoundnessGuard(name, 1);
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
function markCut(split: SplitRecords, columnCount: number): SplitRecords {
  return (block) => {
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
  split: SplitRecords,
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

/** The first line of a file that tells spreadsheets its delimiter (`sep=;`), taken off; null where there is none. */
function takeDelimiterHint(block: LineBlock): { delimiter: string; rest: LineBlock } | null {
  if (block.firstLine !== 1) return null;
  const delimiter = hint.exec(block.texts[0] ?? '')?.[1];
  return delimiter === undefined ? null : { delimiter, rest: sliceBlock(block, 1) };
}

/** What a source says of the delimiter counts; else what the file says. */
function withHint(source: CsvSource, delimiter: string | undefined): CsvSource {
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
 * Takes a stream of bytes apart into its physical lines, without its byte order mark and without what DOS wrote behind the last line.
 * Throws RosterError `encoding` with line and byte at the first byte that is not of the encoding, `line_too_long` past `maxLineBytes`.
 */
async function* readLineBlocks(chunks: Chunks, encoding: 'auto' | EncodingLabel, path: string): LineBlocks {
  let decoding: { label: EncodingLabel; decode: DecodeText; unitBytes: number } | null = null;
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let offset = 0;
  for await (const { chunk, isLast } of markLast(chunks)) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (decoding === null) {
      const label = detectEncoding(rest, encoding, path);
      decoding = { label, decode: createTextDecoder(label), unitBytes: label.startsWith('utf-16') ? 2 : 1 };
    }
    const { label, decode, unitBytes } = decoding;
    const end = isLast ? rest.length : unitBytes === 1 ? findLineEnd(rest) : findWideLineEnd(rest, label);
    if (end > 0) {
      const bytes = rest.subarray(0, end);
      const text = decode(bytes);
      if (text === null) {
        throw toEncodingError({ bytes, offset, line, label, isDeclared: encoding !== 'auto' }, decode, path);
      }
      const block = toLineBlock(offset === 0 ? withoutMark(text) : text, line, isLast);
      offset += end;
      line += block.texts.length;
      rest = rest.subarray(end);
      yield block;
    }
    if (rest.length > maxLineBytes * unitBytes) {
      throw new RosterError('line_too_long', `${path}: line ${line} is longer than ${maxLineBytes} bytes.`);
    }
  }
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

async function* markLast(chunks: Chunks): AsyncGenerator<{ chunk: Buffer; isLast: boolean }, void, undefined> {
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

/** Bytes that could not be decoded, and where they stand. */
interface UndecodedBytes {
  bytes: Buffer;
  /** Of the first of them in the file, from 0, unpacked. */
  offset: number;
  /** Line on which they begin, from 1. */
  line: number;
  label: EncodingLabel;
  isDeclared: boolean;
}

/** The longest character of any encoding, in bytes. */
const maxCharacterBytes = 4;

/** Makes the RosterError `encoding` that names line and byte of what is not of the encoding, and what to write into the configuration. */
function toEncodingError(at: UndecodedBytes, decode: DecodeText, path: string): RosterError {
  const position = findBrokenByte(at.bytes, decode);
  const line = at.line + countLineEnds(decode(at.bytes.subarray(0, position)) ?? '');
  const where = `line ${line} is not ${at.label} (byte ${at.offset + position + 1} of the file)`;
  return new RosterError('encoding', `${path}: ${where}. ${adviseOn(at)}`);
}

function adviseOn({ bytes, label, isDeclared }: UndecodedBytes): string {
  if (label === 'utf-8' && isOverlong(bytes)) {
    return (
      'A character is written there in a form that UTF-8 forbids (NUL as C0 80, or half of a pair), and it is no other encoding either: ' +
      'have it exported as plain UTF-8.'
    );
  }
  const likely = label === 'utf-8' ? guessEncoding(bytes) : null;
  if (likely !== null) {
    return `It looks like ${likely}: if that is right, write \`encoding: ${likely}\` under \`csv:\` of this roster; else save it as UTF-8.`;
  }
  if (isDeclared) return 'Declare the encoding that it is written in under `csv:` of this roster, or save it as UTF-8.';
  return 'Save it as UTF-8, or write its encoding under `csv:` of this roster, for example `encoding: windows-1252`.';
}

/** NUL in more than one byte, as Java and some databases write it; half of a UTF-16 pair in three. */
const forbidden = /\xc0\x80|\xe0\x80\x80|\xf0\x80\x80\x80|\xed[\xa0-\xbf][\x80-\xbf]/g;

/** Tells whether bytes are UTF-8 but for characters in forms that it forbids. */
function isOverlong(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const rest = text.replaceAll(forbidden, '');
  return rest.length < text.length && isUtf8(Buffer.from(rest, 'latin1'));
}

/** Finds where the first sequence begins that is not of the encoding: behind the longest start that decodes. */
function findBrokenByte(bytes: Buffer, decode: DecodeText): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const whole = findWholeStart(bytes, middle, decode);
    if (whole === null) high = middle - 1;
    else low = middle;
  }
  return findWholeStart(bytes, low, decode) ?? 0;
}

/** The last of the ends near `end` up to which everything decodes: a character may be cut there. */
function findWholeStart(bytes: Buffer, end: number, decode: DecodeText): number | null {
  for (let at = end; at >= 0 && at > end - maxCharacterBytes; at -= 1) {
    if (decode(bytes.subarray(0, at)) !== null) return at;
  }
  return null;
}

function countLineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
