import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { RosterError } from '../../errors.js';

const utf16 = ['utf-16le', 'utf-16be'] as const;
const eastAsian = ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'] as const;

/**
 * The encodings that a CSV file may have, as WHATWG labels. Here `iso-8859-1`, `-9` and `-11` are the standards
 * themselves, not the Windows code pages that browsers read instead.
 */
export const csvEncodings = [
  'utf-8',
  ...utf16,
  ...([874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258] as const).map((page) => `windows-${page}` as const),
  ...([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16] as const).map((part) => `iso-8859-${part}` as const),
  'koi8-r',
  'koi8-u',
  'ibm866',
  'macintosh',
  'x-mac-cyrillic',
  ...eastAsian,
] as const;

/** An encoding that a CSV file may have. */
export type EncodingLabel = (typeof csvEncodings)[number];

/** Multi-byte encodings, whose lines may also be valid UTF-8. */
const wideEncodings: readonly EncodingLabel[] = [...utf16, ...eastAsian];

const marks: readonly { bytes: readonly number[]; label: EncodingLabel | 'utf-32' }[] = [
  { bytes: [0xff, 0xfe, 0, 0], label: 'utf-32' },
  { bytes: [0, 0, 0xfe, 0xff], label: 'utf-32' },
  { bytes: [0xef, 0xbb, 0xbf], label: 'utf-8' },
  { bytes: [0xff, 0xfe], label: 'utf-16le' },
  { bytes: [0xfe, 0xff], label: 'utf-16be' },
];

const sampleBytes = 64 * 1024;

/** The least share of UTF-16 units with a zero byte: delimiters, digits and line endings have one in every script. */
const leastZeroShare = 0.2;
const leastZeroShareWithoutLines = 0.4;

/**
 * Finds the encoding of a file by its byte order mark, then by the declaration, then as UTF-16 by its zero bytes;
 * otherwise UTF-8. Throws RosterError `encoding` when the mark contradicts the declaration or means UTF-32.
 */
function detectEncoding(start: Buffer, declared: 'auto' | EncodingLabel, path: string): EncodingLabel {
  const marked = marks.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte))?.label;
  if (marked === 'utf-32') throw new RosterError('encoding', `${path} begins like UTF-32. Save it as UTF-8.`);
  if (marked !== undefined && declared !== 'auto' && marked !== declared) {
    throw new RosterError(
      'encoding',
      `${path} begins with the byte order mark of ${marked}, but is declared as ${declared}. ` +
        'Write `encoding: auto` under `csv:` of this roster, or check whether it is the right file.',
    );
  }
  if (marked !== undefined) return marked;
  return declared === 'auto' ? (detectUtf16(start.subarray(0, sampleBytes)) ?? 'utf-8') : declared;
}

/** Distinguishes UTF-16 from text with stray NULs by the zero byte next to each line ending. */
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

const latin = /\p{Script=Latin}/u;
const cyrillic = /\p{Script=Cyrillic}/u;
const han = /\p{Script=Han}/u;
const japanese = /[\p{Script=Han}\p{Script=Hiragana}\u30a0-\u30ff]/u;
const western = 'éèäöüßåøæçñáíóúàâêîôëïÉÄÖÜÅØÇÑÁãõ';
const russian = 'оеаинтсрвлкмдпуяыьгзбчйхОЕАИНТСРВЛКМДПУЯГЗБЧ';
const kanji = '田中山本小林藤佐木高村井野橋川島口子美郎一太鈴のアイスンルトリラー';

/**
 * The encodings that are guessed, with the frequent characters of names written in them; the first of two that fit
 * equally well wins. Detectors by running text (chardet 2.2) take short names in Hebrew, Thai, IBM 866 and Macintosh
 * for something else.
 */
const candidates: readonly (readonly [label: EncodingLabel, script: RegExp, frequent: string])[] = [
  ['windows-1252', latin, western],
  ['windows-1250', latin, 'áéíóúýčďěňřšťžůąćęłńśźżőűăäöüßČŘŠŽŁŚŻŹ'],
  ['windows-1254', latin, 'çğıİöşüâŞĞÇÖÜ'],
  ['windows-1257', latin, 'ąčęėįšųūžāēģīķļņõäöüŠŽČ'],
  ['macintosh', latin, western],
  ['windows-1251', cyrillic, russian],
  ['koi8-r', cyrillic, russian],
  ['ibm866', cyrillic, russian],
  ['iso-8859-5', cyrillic, russian],
  ['windows-1253', /\p{Script=Greek}/u, 'αειηοςστνρπκλμυωάέήίόύώδγθχΑΓΔΚΜΝΠΣ'],
  ['windows-1255', /\p{Script=Hebrew}/u, 'יוהלאמרבתנשחדקםעפןכסגטזצ'],
  ['windows-1256', /\p{Script=Arabic}/u, 'المينرودبتهحسعكفقخجشةىطصضزغأ'],
  ['windows-874', /\p{Script=Thai}/u, 'านรอกเงมยลวดทสต่้ปบคหแจพชขใไะัิีุู'],
  ['shift_jis', japanese, kanji],
  ['euc-jp', japanese, kanji],
  ['gb18030', han, '王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗华明国文伟芳小丽军杰'],
  ['big5', han, '陳林黃張李王吳劉蔡楊許鄭謝郭洪曾邱廖賴周華明國文美淑志雅'],
  ['euc-kr', /\p{Script=Hangul}/u, '김이박최정강조윤장임한오서신권황안송류전홍민수영지현성준희은진우'],
];
type Candidate = (typeof candidates)[number];

const guessBytes = 16 * 1024;
const lineFeed = 0x0a;
const asciiLimit = 0x80;

/** Guesses the encoding of bytes that are not UTF-8 by the letters of names; null when no encoding fits. */
export function guessEncoding(bytes: Buffer): EncodingLabel | null {
  const sample = takeDistinctiveLines(bytes);
  const highCount = sample.reduce((count, byte) => count + (byte >= asciiLimit ? 1 : 0), 0);
  if (highCount === 0) return null;
  const scored = candidates
    .map((candidate) => ({ label: candidate[0], score: scoreCandidate(candidate, sample) / highCount }))
    .sort((one, other) => other.score - one.score);
  const best = scored[0];
  return best !== undefined && best.score > 0.2 ? best.label : null;
}

/**
 * Finds the encoding of a file by its byte order mark or first bytes, and guesses it by its letters when it is not
 * UTF-8, unless it is `declared`. Doubts report lines in two encodings. Throws like `detectEncoding`.
 */
export function inspectEncoding(bytes: Buffer, declared: 'auto' | EncodingLabel, path: string) {
  const encoding = declared === 'auto' ? findEncoding(bytes, path) : declared;
  return { encoding, doubts: doubtMixedLines(bytes, encoding) };
}

function findEncoding(bytes: Buffer, path: string): EncodingLabel {
  const detected = detectEncoding(bytes, 'auto', path);
  // The sample may end within a character.
  const isSound = detected !== 'utf-8' || isUtf8(bytes) || [1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, -cut)));
  return isSound ? detected : (guessEncoding(bytes) ?? detected);
}

/** Reports a file with lines in UTF-8 and others in another encoding: with either setting, some names are garbled. */
function doubtMixedLines(bytes: Buffer, encoding: EncodingLabel): readonly string[] {
  if (wideEncodings.includes(encoding) || isUtf8(bytes)) return [];
  const unicode: number[] = [];
  const others: number[] = [];
  let line = 0;
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, at);
    const stop = end < 0 ? bytes.length : end;
    const text = bytes.subarray(at, stop);
    line += 1;
    // The sample may end within a character.
    if (end >= 0 && !isAscii(text)) (isUtf8(text) ? unicode : others).push(line);
    at = stop + 1;
  }
  const isMixed = unicode.length > 0 && others.length > 0 && unicode.length > others.length / 100;
  if (!isMixed) return [];
  const other = encoding === 'utf-8' ? 'another encoding' : encoding;
  return [
    `the file is in two encodings: ${describeLines(unicode)} UTF-8, ${describeLines(others)} ${other}. With either setting, names of the other lines are garbled: have it exported again in one encoding`,
  ];
}

const describeLines = (lines: readonly number[]): string =>
  lines.length === 1 ? `line ${lines[0]} is` : `line ${lines[0]} and ${lines.length - 1} others are`;

function takeDistinctiveLines(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length && length < guessBytes; ) {
    const end = bytes.indexOf(lineFeed, at);
    const line = bytes.subarray(at, end < 0 ? Math.min(bytes.length, at + guessBytes) : end + 1);
    if (!isUtf8(line)) {
      lines.push(line);
      length += line.length;
    }
    at = end < 0 ? bytes.length : end + 1;
  }
  return Buffer.concat(lines);
}

function scoreCandidate(candidate: Candidate, sample: Buffer): number {
  const [label] = candidate;
  const text = createTextDecoder(label)(sample);
  if (text === null) return Number.NEGATIVE_INFINITY;
  const bytesPerCharacter = wideEncodings.includes(label) ? 2 : 1;
  const characters = [...text];
  let score = 0;
  for (const [at, character] of characters.entries()) {
    const [before = '', after = ''] = [characters[at - 1], characters[at + 1]];
    if (character.charCodeAt(0) >= asciiLimit) {
      score += scoreCharacter(candidate, character, before, after) * bytesPerCharacter;
    } else if (isMixed(candidate, character, before)) score -= 1;
  }
  return score;
}

function scoreCharacter([label, script, frequent]: Candidate, character: string, before: string, after: string) {
  if (/\p{Cc}|\p{Co}/u.test(character)) return -2;
  if (!/[\p{L}\p{M}]/u.test(character)) return -0.5;
  // A capital within a word is typical of the wrong code page.
  if (isMixed([label, script, frequent], before, character)) return -1;
  // A single letter of a non-Latin script is improbable.
  if (script !== latin && !script.test(before) && !script.test(after)) return 0;
  if (/\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)) return -1;
  // In Portuguese an e follows; otherwise the byte is more probably the ő of windows-1250.
  if (character === 'õ' && after !== 'e' && label === 'windows-1252') return 0.2;
  if (frequent.includes(character)) return 1;
  return script.test(character) ? 0.2 : -0.5;
}

/** Whether an ASCII letter is next to a letter of another script, which is typical of the wrong code page. */
function isMixed([, script]: Candidate, ascii: string, other: string): boolean {
  return script !== latin && /^[A-Za-z]$/.test(ascii) && script.test(other);
}

/** Decodes whole characters; null for invalid bytes, so nothing is ever replaced. */
type DecodeText = (bytes: Buffer) => string | null;

/** Creates the strict decoder of an encoding. */
export function createTextDecoder(label: EncodingLabel): DecodeText {
  if (label === 'utf-8') return (bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : null);
  if (label === 'utf-16le') return decodeUtf16;
  if (label === 'utf-16be') {
    return (bytes) => (bytes.length % 2 === 0 ? decodeUtf16(Buffer.from(bytes).swap16()) : null);
  }
  const decode = wideEncodings.includes(label) ? createMultiByteDecoder(label) : createSingleByteDecoder(label);
  return (bytes) => (isAscii(bytes) ? bytes.toString('latin1') : decode(bytes));
}

function decodeUtf16(bytes: Buffer): string | null {
  if (bytes.length % 2 !== 0) return null;
  const text = bytes.toString('utf16le');
  return text.isWellFormed() ? text : null;
}

function createSingleByteDecoder(label: EncodingLabel): DecodeText {
  const table = createSingleByteTable(label);
  return (bytes) => {
    const units = new Uint16Array(bytes.length);
    for (let at = 0; at < bytes.length; at += 1) {
      const unit = table[bytes[at] ?? 0] ?? unassigned;
      if (unit === unassigned) return null;
      units[at] = unit;
    }
    return Buffer.from(units.buffer).toString('utf16le');
  };
}

function createMultiByteDecoder(label: EncodingLabel): DecodeText {
  return (bytes) => {
    const text = iconv.decode(bytes, label, { stripBOM: false });
    return stray.test(text) ? null : text;
  };
}

/** What iconv-lite makes of invalid bytes in multi-byte encodings. */
const stray = /[\ufffd\u0080-\u009f\uf8f0-\uf8ff]/;
/** What it makes of a byte without a character. */
const unassigned = 0xfffd;
const firstSign = 0xa0;
/** Apple replaced the currency sign, which iconv-lite still gives. */
const euros: Partial<Record<EncodingLabel, number>> = { macintosh: 0xdb, 'x-mac-cyrillic': 0xff };

/** The UTF-16 unit of each byte of a single-byte encoding. */
export function createSingleByteTable(label: EncodingLabel): Uint16Array {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const text = iconv.decode(bytes, label === 'x-mac-cyrillic' ? 'macukraine' : label);
  return Uint16Array.from(bytes, (byte) => {
    const unit = euros[label] === byte ? '€'.charCodeAt(0) : text.charCodeAt(byte);
    // A Windows code page reads an unused byte below the signs as a control character.
    return unit === unassigned && byte < firstSign ? byte : unit;
  });
}

const maxCharacterBytes = 4;

/**
 * Creates the decoder of a file by its first bytes. `decode` takes whole characters, the offset of their first byte in
 * the unpacked file, and their first line. It throws RosterError `encoding` with line and byte of the first invalid
 * byte and with the setting to write. Throws like `detectEncoding`.
 */
export function openDecoder(start: Buffer, declared: 'auto' | EncodingLabel, path: string) {
  const label = detectEncoding(start, declared, path);
  const decode = createTextDecoder(label);
  return {
    label,
    decode: (bytes: Buffer, offset: number, line: number): string => {
      const text = decode(bytes);
      if (text !== null) return text;
      const position = findBrokenByte(bytes, decode);
      const brokenLine = line + countLineEnds(decode(bytes.subarray(0, position)) ?? '');
      const where = `line ${brokenLine} is not ${label} (byte ${offset + position + 1} of the file)`;
      throw new RosterError('encoding', `${path}: ${where}. ${adviseOn(bytes, label, declared !== 'auto')}`);
    },
  };
}

function adviseOn(bytes: Buffer, label: EncodingLabel, isDeclared: boolean): string {
  if (label === 'utf-8' && isOverlong(bytes)) {
    return (
      'A character there has a form that UTF-8 forbids (NUL as C0 80, or half of a pair), and no other encoding fits. ' +
      'Have it exported as plain UTF-8.'
    );
  }
  const likely = label === 'utf-8' ? guessEncoding(bytes) : null;
  if (likely !== null) {
    return `It looks like ${likely}: if that is right, write \`encoding: ${likely}\` under \`csv:\` of this roster; otherwise save it as UTF-8.`;
  }
  if (isDeclared) return 'Declare its real encoding under `csv:` of this roster, or save it as UTF-8.';
  return 'Save it as UTF-8, or write its encoding under `csv:` of this roster, for example `encoding: windows-1252`.';
}

/** NUL in several bytes, as Java and some databases write it, and half of a UTF-16 pair in three bytes. */
const forbidden = /\xc0\x80|\xe0\x80\x80|\xf0\x80\x80\x80|\xed[\xa0-\xbf][\x80-\xbf]/g;

function isOverlong(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const rest = text.replaceAll(forbidden, '');
  return rest.length < text.length && isUtf8(Buffer.from(rest, 'latin1'));
}

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

/** The last end near `end` up to which everything decodes; `end` may split a character. */
function findWholeStart(bytes: Buffer, end: number, decode: DecodeText): number | null {
  for (let at = end; at >= 0 && at > end - maxCharacterBytes; at -= 1) {
    if (decode(bytes.subarray(0, at)) !== null) return at;
  }
  return null;
}

function countLineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
