import { RosterError } from '../../errors.js';
import type { EncodingLabel } from './encodings.js';

const marks: readonly { bytes: readonly number[]; label: EncodingLabel | 'utf-32' }[] = [
  { bytes: [0xff, 0xfe, 0, 0], label: 'utf-32' },
  { bytes: [0, 0, 0xfe, 0xff], label: 'utf-32' },
  { bytes: [0xef, 0xbb, 0xbf], label: 'utf-8' },
  { bytes: [0xff, 0xfe], label: 'utf-16le' },
  { bytes: [0xfe, 0xff], label: 'utf-16be' },
];

/** How much of the start is looked at. */
const sampleBytes = 64 * 1024;

/** The least share of UTF-16 units with a zero byte: delimiters, digits and line ends have one in every script. */
const leastZeroShare = 0.2;
const leastZeroShareWithoutLines = 0.4;

/**
 * Finds the encoding of a file by its first bytes: its byte order mark, else what is declared, else UTF-16 by its zero bytes, else UTF-8.
 * Throws RosterError `encoding` when the mark contradicts the declaration or means UTF-32.
 */
export function detectEncoding(start: Buffer, declared: 'auto' | EncodingLabel, path: string): EncodingLabel {
  const marked = marks.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte))?.label;
  if (marked === 'utf-32') throw new RosterError('encoding', `${path} begins like UTF-32. Save it as UTF-8.`);
  if (marked !== undefined && declared !== 'auto' && marked !== declared) {
    throw new RosterError(
      'encoding',
      `${path} begins with the byte order mark of ${marked}, but is declared as ${declared}. ` +
        'Write `encoding: auto` under `csv:` of this roster, or check which file it is.',
    );
  }
  if (marked !== undefined) return marked;
  return declared === 'auto' ? (detectUtf16(start.subarray(0, sampleBytes)) ?? 'utf-8') : declared;
}

/** Line ends tell UTF-16 from text with stray NULs: bytes like those of a line end have the zero beside them, unless letters hold the same bytes. */
function detectUtf16(sample: Buffer): EncodingLabel | null {
  const zeros: [number, number] = [0, 0];
  const lineEnds: [number, number] = [0, 0];
  let lineBytes = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    const [first, second] = [sample[at], sample[at + 1]];
    if (first === 0) zeros[0] += 1;
    if (second === 0) zeros[1] += 1;
    if (isLineByte(first)) lineBytes += 1;
    if (isLineByte(second)) lineBytes += 1;
    if (isLineByte(first) && second === 0) lineEnds[1] += 1;
    if (isLineByte(second) && first === 0) lineEnds[0] += 1;
  }
  const unitCount = Math.floor(sample.length / 2);
  const isUtf16 = (own: 0 | 1) => {
    if (unitCount === 0 || zeros[own] < zeros[own === 0 ? 1 : 0] * 4) return false;
    const share = zeros[own] / unitCount;
    if (lineBytes === 0) return share >= leastZeroShareWithoutLines;
    return share >= leastZeroShare && lineEnds[own] >= lineBytes / 4;
  };
  if (isUtf16(1)) return 'utf-16le';
  return isUtf16(0) ? 'utf-16be' : null;
}

function isLineByte(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}
