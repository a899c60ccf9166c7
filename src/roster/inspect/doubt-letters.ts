import { isAscii, isUtf8 } from 'node:buffer';
import { type EncodingLabel, wideEncodings } from '../csv/encodings.js';
import { createSingleByteTable } from '../csv/single-byte-table.js';
import type { ColumnProfile } from './column-profile.js';

const lineFeed = 0x0a;

/** Doubts a file some of whose lines are UTF-8 and others not: whichever encoding is declared, the names of the other lines are garbled. */
export function doubtMixedLines(bytes: Buffer, encoding: EncodingLabel): readonly string[] {
  if (wideEncodings.includes(encoding) || isUtf8(bytes)) return [];
  const unicode: number[] = [];
  const others: number[] = [];
  let line = 0;
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, at);
    const stop = end < 0 ? bytes.length : end;
    const text = bytes.subarray(at, stop);
    line += 1;
    // The last line may be cut within a character.
    if (end >= 0 && !isAscii(text)) (isUtf8(text) ? unicode : others).push(line);
    at = stop + 1;
  }
  const isMixed = unicode.length > 0 && others.length > 0 && unicode.length > others.length / 100;
  if (!isMixed) return [];
  const other = encoding === 'utf-8' ? 'another encoding' : encoding;
  return [
    `the file is in two encodings: ${describeLines(unicode)} UTF-8, ${describeLines(others)} ${other}. Whichever is declared, names of the other lines are garbled: have it exported again in one encoding`,
  ];
}

const describeLines = (lines: readonly number[]): string =>
  lines.length === 1 ? `line ${lines[0]} is` : `line ${lines[0]} and ${lines.length - 1} others are`;

const likely: readonly EncodingLabel[] = ['windows-1252', 'iso-8859-1', 'windows-1250', 'windows-1251'];
const units = likely.map((label) => ({
  label,
  bytes: new Map([...createSingleByteTable(label)].map((unit, byte) => [unit, byte] as const)),
}));

/** Doubts columns whose letters are UTF-8 that was once read in another encoding, such as `MÃ¼ller`. */
export function doubtGarbledLetters(profiles: readonly ColumnProfile[], encoding: EncodingLabel): readonly string[] {
  return profiles.flatMap(({ header, values }) => {
    const telling = values.filter((value) => !isAscii(Buffer.from(value)));
    const garbled = telling.flatMap((value) => {
      const meant = undoReading(value);
      return meant === null ? [] : [{ value, ...meant }];
    });
    const [first] = garbled;
    if (first === undefined || garbled.length < telling.length / 2) return [];
    const remedy =
      encoding === 'utf-8' ? 'have the file exported again' : 'try --encoding utf-8, or have it exported again';
    return [
      `the letters of ${header} are garbled in ${garbled.length} of ${values.length} rows, such as ${JSON.stringify(first.value)} for ${JSON.stringify(first.text)}: they are UTF-8 that was read in the encoding ${first.label}; ${remedy}`,
    ];
  });
}

/** What a text says once its letters are bytes again; null where these are no UTF-8. */
function undoReading(value: string): { text: string; label: EncodingLabel } | null {
  for (const { label, bytes } of units) {
    const codes = Array.from({ length: value.length }, (_, at) => bytes.get(value.charCodeAt(at)));
    if (codes.some((code) => code === undefined)) continue;
    const buffer = Buffer.from(codes.map((code) => code ?? 0));
    if (isUtf8(buffer)) return { text: buffer.toString('utf8'), label };
  }
  return null;
}
