import { isAscii, isUtf8 } from 'node:buffer';
import type { EncodingLabel } from './encodings.js';
import { createSingleByteTable, decodeSingleBytes } from './single-byte-table.js';

/** Decodes whole characters; null where the bytes are not of the encoding, so nothing is ever replaced. */
export type DecodeText = (bytes: Buffer) => string | null;

const multiByte: readonly EncodingLabel[] = ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'];

/** Makes the strict decoder of an encoding. */
export function createTextDecoder(label: EncodingLabel): DecodeText {
  if (label === 'utf-8') return (bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : null);
  if (label === 'utf-16le') return decodeUtf16;
  if (label === 'utf-16be') {
    return (bytes) => (bytes.length % 2 === 0 ? decodeUtf16(Buffer.from(bytes).swap16()) : null);
  }
  const decode = multiByte.includes(label) ? createMultiByteDecoder(label) : createSingleByteDecoder(label);
  return (bytes) => (isAscii(bytes) ? bytes.toString('latin1') : decode(bytes));
}

function decodeUtf16(bytes: Buffer): string | null {
  if (bytes.length % 2 !== 0) return null;
  const text = bytes.toString('utf16le');
  return text.isWellFormed() ? text : null;
}

function createSingleByteDecoder(label: EncodingLabel): DecodeText {
  const table = createSingleByteTable(label);
  return (bytes) => decodeSingleBytes(bytes, table);
}

function createMultiByteDecoder(label: EncodingLabel): DecodeText {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const original = findMovedControls(decoder);
  return (bytes) => {
    try {
      const text = decoder.decode(bytes);
      if (stray.test(text)) return null;
      return original.size === 0 ? text : text.replaceAll(movable, (unit) => original.get(unit) ?? unit);
    } catch {
      return null;
    }
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are moved
const movable = /[\x1a\x1c\x7f]/g;

/** What ICU gives for some single bytes that stand for nothing in an encoding of several. */
const stray = /[\uf8f0-\uf8ff]/;

/** ICU's code pages of IBM give 0x1a, 0x1c and 0x7f to one another. */
function findMovedControls(decoder: InstanceType<typeof TextDecoder>): ReadonlyMap<string, string> {
  const controls = ['\x1a', '\x1c', '\x7f'];
  const read = controls.map((control) => [decoder.decode(Buffer.from(control)), control] as const);
  return new Map(read.filter(([shown, control]) => shown !== control));
}
