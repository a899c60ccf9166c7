import { isUtf8 } from 'node:buffer';
import { RosterError } from '../errors.js';

/** One line of a file as it lies on disk, without and with its own ending (`\n`, `\r\n`, `\r`, or none at the end of the file). */
export interface PhysicalLine {
  /** From 1. */
  number: number;
  text: string;
  ending: string;
}

/** The longest physical line, in bytes; beyond it a file is no roster. */
const maxLineBytes = 1024 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits a stream of UTF-8 bytes into its physical lines, a block of whole lines at a time, without its byte order mark.
 * Throws RosterError `encoding` with line and byte at the first byte that is not UTF-8, `line_too_long` past `maxLineBytes`.
 */
export async function* splitPhysicalLines(
  chunks: AsyncIterable<Buffer>,
  source: string,
): AsyncGenerator<readonly PhysicalLine[], void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 1;
  let offset = 0;
  let isFirst = true;
  const take = (length: number): PhysicalLine[] => {
    const skipped = isFirst && rest.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
    const block = rest.subarray(skipped, length);
    if (!isUtf8(block)) throw toEncodingError(block, source, number, offset + skipped);
    const lines = splitText(block.toString('utf8'), number);
    rest = rest.subarray(length);
    offset += length;
    number += lines.length;
    isFirst = false;
    return lines;
  };
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = findLastLineEnd(rest);
    if (end > 0) yield take(end);
    if (rest.length > maxLineBytes) {
      throw new RosterError('line_too_long', `${source}: line ${number} is longer than ${maxLineBytes} bytes.`);
    }
  }
  if (rest.length > 0) yield take(rest.length);
}

/** A CR that is the last byte so far may be half of a CRLF, so it ends no line yet. */
function findLastLineEnd(bytes: Buffer): number {
  const beforeLast = bytes.length - 2;
  const found = Math.max(
    bytes.lastIndexOf(lineFeed),
    beforeLast >= 0 ? bytes.lastIndexOf(carriageReturn, beforeLast) : -1,
  );
  return found + 1;
}

function splitText(text: string, firstNumber: number): PhysicalLine[] {
  return text.includes('\r') ? splitAnyEnding(text, firstNumber) : splitLineFeeds(text, firstNumber);
}

function splitLineFeeds(text: string, firstNumber: number): PhysicalLine[] {
  const texts = text.split('\n');
  const last = texts.pop() ?? '';
  const lines = texts.map((line, index) => ({ number: firstNumber + index, text: line, ending: '\n' }));
  if (last !== '') lines.push({ number: firstNumber + lines.length, text: last, ending: '' });
  return lines;
}

function splitAnyEnding(text: string, firstNumber: number): PhysicalLine[] {
  const lines: PhysicalLine[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start;
    while (end < text.length && !isLineEnd(text.charCodeAt(end))) end += 1;
    const isPair = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed;
    const next = Math.min(end + (isPair ? 2 : 1), text.length);
    lines.push({ number: firstNumber + lines.length, text: text.slice(start, end), ending: text.slice(end, next) });
    start = next;
  }
  return lines;
}

function isLineEnd(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}

function toEncodingError(block: Buffer, source: string, firstNumber: number, blockOffset: number): RosterError {
  const position = findBrokenByte(block);
  const lines = splitText(block.subarray(0, position).toString('latin1'), firstNumber);
  const last = lines.at(-1);
  const number = last === undefined ? firstNumber : last.ending === '' ? last.number : last.number + 1;
  const utf16 = blockOffset === 0 && (block[0] === 0xff || block[0] === 0xfe);
  return new RosterError(
    'encoding',
    `${source}: line ${number} is not UTF-8 (byte ${blockOffset + position + 1} of the file` +
      `${utf16 ? ', which begins like UTF-16' : ''}). Save the file as UTF-8 and try again.`,
  );
}

/** Finds where the first sequence begins that is not UTF-8: the text before it is the longest that decodes. */
function findBrokenByte(block: Buffer): number {
  let decoded = '';
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const text = decodeStart(block.subarray(0, middle));
    if (text === null) high = middle - 1;
    else {
      low = middle;
      decoded = text;
    }
  }
  return Buffer.byteLength(decoded);
}

/** Leaves out a character cut at the end. */
function decodeStart(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
