import { RosterError } from '../../errors.js';
import { detectEncoding } from './detect-encoding.js';
import { toEncodingError } from './encoding-error.js';
import type { EncodingLabel } from './encodings.js';
import type { Chunks } from './file-chunks.js';
import type { LineBlock } from './line-block.js';
import { createTextDecoder, type DecodeText } from './text-decoder.js';

/** Blocks of lines as they come. */
export type LineBlocks = AsyncGenerator<LineBlock, void, undefined>;

/** The longest physical line, in bytes; beyond it a file is no roster. */
const maxLineBytes = 1024 * 1024;

const byteOrderMark = '\ufeff';
/** Closed a file under DOS. */
const endOfFile = '\x1a';

/**
 * Takes a stream of bytes apart into its physical lines, without its byte order mark and without what DOS wrote behind the last line.
 * Throws RosterError `encoding` with line and byte at the first byte that is not of the encoding, `line_too_long` past `maxLineBytes`.
 */
export async function* readLineBlocks(chunks: Chunks, encoding: 'auto' | EncodingLabel, path: string): LineBlocks {
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
