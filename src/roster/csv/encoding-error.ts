import { isUtf8 } from 'node:buffer';
import { RosterError } from '../../errors.js';
import type { EncodingLabel } from './encodings.js';
import { guessEncoding } from './guess-encoding.js';
import type { DecodeText } from './text-decoder.js';

/** Bytes that could not be decoded, and where they stand. */
export interface UndecodedBytes {
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
export function toEncodingError(at: UndecodedBytes, decode: DecodeText, path: string): RosterError {
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
