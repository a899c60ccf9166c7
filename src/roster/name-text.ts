import { isUtf8 } from 'node:buffer';
import { decodeHTMLStrict } from 'entities/decode';
import type { DoubtReason, PartyType } from '../vocabulary.js';
import { createSingleByteTable, createTextDecoder, type EncodingLabel } from './csv/encodings.js';

/** A name as it is sent, the source text if that is another, and why it may not be what the party is called. */
export interface NameText {
  name: string;
  said: string | null;
  why: DoubtReason | null;
}

// Nearly all names end here: letters without a capital in the middle of a word.
const plainName =
  /^(?:[A-Za-z\u00df-\u00f6\u00f8-\u00ff .,'’()-]|(?<![a-z\u00df-\u00ff])[\u00c0-\u00d6\u00d8-\u00de](?!’))*$/;

/** Decodes a name that was encoded once too often, and finds letters that are garbled or lost. */
export function readNameText(text: string, type: PartyType): NameText {
  if (plainName.test(text)) return { name: text, said: null, why: null };
  const decoded = decodeName(text);
  const why = decoded === null ? 'encoded_name' : findNameDoubt(decoded, type);
  return decoded === null || decoded === text ? { name: text, said: null, why } : { name: decoded, said: text, why };
}

// What is encoded once too often may be encoded several times.
const mostRounds = 4;
const mayBeCode = /[&%\\=<]/;
const whiteSpace = /\s+/g;

/** Gives a name without the codes of HTML, URLs, JSON and mail; null for a code that gives no letter. */
function decodeName(text: string): string | null {
  let name = text;
  for (let round = 0; round < mostRounds && mayBeCode.test(name); round += 1) {
    const before = name;
    for (const decode of [removeTags, decodeEntities, decodePercents, decodeEscapes, decodeQuotedPrintable]) {
      const decoded = decode(name);
      if (decoded === null) return null;
      name = decoded;
    }
    if (name === before) break;
    name = name.replace(whiteSpace, ' ').trim();
  }
  return name;
}

const inlineTag = /<\/?(?:a|abbr|b|bdi|big|em|font|i|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,200})?\/?>/gi;
const blockTag = /<\/?(?:br|center|dd|div|dt|h[1-6]|hr|li|ol|p|pre|td|th|tr|ul)(?:\s[^<>]{0,200})?\/?>/gi;

function removeTags(name: string): string | null {
  if (!name.includes('<')) return name;
  const bare = name.replace(inlineTag, '').replace(blockTag, ' ');
  return bare.includes('<![CDATA[') || bare.includes('</') ? null : bare;
}

const entity = /&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,30});/g;
// Browsers read the oldest entities without their semicolon; a firm's name may have a word after the sign.
const cutEntity =
  /&(?:#\d{2,5}|(?:amp|quot|nbsp)(?![a-z])|[A-Za-z](?:acute|grave|circ|tilde|uml|cedil)|[Aa]ring|[Oo]slash)/;

function decodeEntities(name: string): string | null {
  if (!name.includes('&')) return name;
  let isClean = true;
  const decoded = name.replace(entity, (code) => {
    const text = decodeHTMLStrict(code);
    if (text === code || isUnclean(text)) isClean = false;
    return text;
  });
  return isClean && !cutEntity.test(decoded.replaceAll(entity, '')) ? decoded : null;
}

/** Whether a decoded text holds what no name has. */
const isUnclean = (text: string): boolean => /[\p{Cc}\p{Cn}\p{Co}\p{Cs}\ufffd]/u.test(text.replace(/[\t\n\r]/g, ' '));

const isOfLetters = (text: string): boolean => !isUnclean(text) && /^[\p{L}\p{M}]+$/u.test(text);

const percents = /(\d?)((?:%[\dA-Fa-f]{2})+)/g;

function decodePercents(name: string): string | null {
  if (!name.includes('%')) return name;
  let isClean = true;
  let isUrl = false;
  const decoded = name.replace(percents, (whole: string, digit: string, code: string) => {
    const bytes = Buffer.from(code.replaceAll('%', ''), 'hex');
    const text = decodeBytes(bytes);
    // A percent sign after a figure is one, as in 100%Fabric.
    if (digit !== '' && (text === null || (bytes.length === 1 && bytes[0] !== spaceByte))) return whole;
    if (text === null) isClean = false;
    else isUrl = true;
    return digit + (text ?? code);
  });
  if (!isClean) return null;
  return isUrl && !/\s/.test(name) ? decoded.replace(/(?<=\p{L})\+(?=\p{L})/gu, ' ') : decoded;
}

const spaceByte = 0x20;

const decodeWindows1252 = createTextDecoder('windows-1252');

/** Bytes as UTF-8, otherwise as letters of Windows; null when they are neither. */
function decodeBytes(bytes: Buffer): string | null {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8');
    return isUnclean(text) ? null : text;
  }
  const text = decodeWindows1252(bytes);
  return text !== null && isOfLetters(text) ? text : null;
}

const unicodeEscapes = /(?:\\u[\dA-Fa-f]{4})+|\\u\{[\dA-Fa-f]{1,6}\}/g;
const byteEscapes = /(?:\\x[\dA-Fa-f]{2})+|(?:\\[0-3][0-7]{2})+/g;
const quotedSigns = /\\(['"/&])/g;

function decodeEscapes(name: string): string | null {
  if (!name.includes('\\')) return name;
  const decoded = name
    .replace(unicodeEscapes, (code) => {
      const units = code.match(/[\dA-Fa-f]{4,6}|[\dA-Fa-f]{1,6}/g) ?? [];
      const numbers = units.map((unit) => Number.parseInt(unit, 16));
      const text = numbers.some((number) => number > 0x10_ffff) ? '' : String.fromCodePoint(...numbers);
      return text !== '' && text.isWellFormed() && !isUnclean(text) ? text : code;
    })
    .replace(byteEscapes, (code) => {
      const octal = code.startsWith('\\x') ? 16 : 8;
      const bytes = code.split(/\\x?/).slice(1);
      return decodeBytes(Buffer.from(bytes.map((byte) => Number.parseInt(byte, octal)))) ?? code;
    })
    .replace(quotedSigns, '$1');
  return decoded.includes('\\') ? null : decoded;
}

const quotedPrintable = /(?:=[\dA-F]{2})+/g;

function decodeQuotedPrintable(name: string): string | null {
  if (!name.includes('=')) return name;
  if (/=\?[\w-]{2,30}\?[BbQq]\?/.test(name)) return null;
  let isClean = true;
  const decoded = name.replace(quotedPrintable, (code) => {
    const bytes = Buffer.from(code.replaceAll('=', ''), 'hex');
    const text = isUtf8(bytes) || /\d/.test(code) ? decodeBytes(bytes) : null;
    if (text !== null && (isOfLetters(text) || code === '=20' || code === '=3D')) return text;
    // X=AB is a name.
    if (/\d/.test(code)) isClean = false;
    return code;
  });
  return isClean ? decoded : null;
}

// Signs that stand for a letter only where an export has replaced one. A firm may be called Who? or M*A*S*H.
const lostInWord = /(?:^|\s)\?\p{L}|\p{L}[?¿\u25a1\u25af\ufffd]+\p{L}|\?{3}|(?:^|\s)\?+\p{Ll}|\ufffd|ï¿½/u;
const lostInPerson = /\?|\p{L}[*_#~]+\p{Ll}|\p{L}\*+\p{L}/u;

/** Why a decoded name may not be what the party is called; null when nothing shows it. */
function findNameDoubt(name: string, type: PartyType): DoubtReason | null {
  if (lostInWord.test(name) || (type === 'person' && lostInPerson.test(name))) return 'lost_letters';
  return isGarbled(name, type) ? 'garbled_name' : null;
}

// Capitals of other code pages in the middle of a word: FranÁois, JŸrgen. Ÿ, Œ, Ã and Â begin no part of a word in any language.
const capitalOfNone = /\p{Ll}[ŸŒÃÂ](?!\p{Lu})|[A-Z]Ÿ[a-z]/u;
const capitalInside = /\p{Ll}[\u00c0-\u00c8\u00ca-\u00d0\u00d2\u00d4-\u00d9\u00db-\u00de\u0160\u017d\u0178][a-z]/u;
const prefixes =
  /^(?:mc|mac|de|di|da|do|du|des|del|della|dell|la|le|lo|van|von|vom|den|der|ten|ter|fitz|san|saint|st|al|el|o|ni|bin|ben)$/i;
// Signs of other code pages where a letter belongs.
const signInside = /\p{L}[°¸¨¯¤§¶¬¦±¢£¥¼½¾¡¿÷×‰†‡ƒˆ˜‚„…•™›‹”“]+\p{Ll}|(?:^|\s)[¸¨¯¤§¶¬±¢£¥¼½¾÷‰†‡ƒˆ˜‚…•™][a-z]/u;
// Polish letters of windows-1250 that were read as western ones: Micha³, MICHA£.
const figureBehind = /\p{L}[¹²³£¼½¾¿]/u;
const drawnInside = /\p{L}[√∂∑∏∫∆≈≠≤≥∞◊\u2500-\u259f]|[√∂∑∏∫∆≈≠≤≥∞◊\u2500-\u259f]\p{L}/u;
// A letter of another script in the middle of a Latin word: J眉rgen, Clеmence with a Cyrillic letter.
const foreignInside = /[A-Za-z](?:(?![\p{Script=Latin}\p{Lm}])\p{L})+[a-z]/u;

function isGarbled(name: string, type: PartyType): boolean {
  if (signInside.test(name) || drawnInside.test(name) || foreignInside.test(name) || capitalOfNone.test(name))
    return true;
  if (type === 'person') {
    if (figureBehind.test(name)) return true;
    const inside = capitalInside.exec(name);
    if (inside !== null && !prefixes.test(wordBefore(name, inside))) return true;
  }
  return findMeant(name) !== null;
}

/** The part of a word before a capital in its middle. */
function wordBefore(name: string, { index, 0: found }: RegExpExecArray): string {
  const before = name.slice(0, index + found.length - 2);
  return /(?<![\p{L}\p{M}])[\p{L}\p{M}]+$/u.exec(before.slice(-mostOfWord))?.[0] ?? '';
}

const mostOfWord = 20;

const labels = ['windows-1252', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'macintosh'] as const;

/** IBM code pages 437 and 850 draw lines with the first bytes of letters, which are found by themselves. */
const readings = labels.map((label) => {
  const units = [...createSingleByteTable(label)];
  // Nearly all names end here: the first two bytes of a letter.
  const opening = new RegExp(`${toClass(units.slice(0xc2, 0xf5))}${toClass(units.slice(0x80, 0xc0))}`);
  return { label, opening, bytes: new Map(units.map((unit, byte) => [unit, byte] as const)) };
});

function toClass(units: readonly number[]): string {
  return `[${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}]`;
}

/** The text that a name garbles: UTF-8 that was read in the encoding `label`; null for an ordinary name. */
export function findMeant(name: string): { text: string; label: EncodingLabel } | null {
  for (const { label, opening, bytes } of readings) {
    const text = opening.test(name) ? undoReading(name, bytes) : null;
    if (text !== null) return { text, label };
  }
  return null;
}

/** Decodes the parts of a name that are the bytes of UTF-8; null when they give no plausible letters. */
function undoReading(name: string, bytes: ReadonlyMap<number, number>): string | null {
  let [text, rest] = ['', ''];
  let [covered, latinLetters, foreign] = [0, 0, 0];
  for (let at = 0; at < name.length; ) {
    const length = countSequence(name, at, bytes);
    const letter = length > 0 ? decodeSequence(name, at, length, bytes) : '';
    const isLatin = fitsLatin(letter, name, at, length);
    const isForeign = otherScripts.test(letter);
    if (isLatin) latinLetters += 1;
    // Longer sequences do not arise by chance.
    if (isForeign) foreign += length - 1;
    const isRead = isLatin || isForeign;
    if (isRead) covered += length;
    else rest += name[at];
    text += isRead ? letter : name[at];
    at += isRead ? length : 1;
  }
  // An ordinary Cyrillic or Greek word may hold the bytes of a Latin letter, as in Гіденко.
  if (latinLetters > 0 && (hasForeignLetter.test(rest) || (!/[A-Za-z]/.test(rest) && hasForeignLetter.test(name))))
    return null;
  if (foreign > 0 && (foreign < fewestForeign || covered < 2 * rest.replace(ascii, '').length)) return null;
  return covered > 0 ? text : null;
}

const hasForeignLetter = /(?!\p{Script=Latin})\p{L}/u;
const ascii = /[\0-\x7f]+/g;
/** Fewer letters of another script may be an ordinary word. */
const fewestForeign = 3;

/** The length of the UTF-8 sequence that begins with the character; 0 for none. */
function countSequence(name: string, at: number, bytes: ReadonlyMap<number, number>): number {
  const first = bytes.get(name.charCodeAt(at)) ?? 0;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

function decodeSequence(name: string, at: number, length: number, bytes: ReadonlyMap<number, number>): string {
  const codes = Array.from({ length }, (_, index) => bytes.get(name.charCodeAt(at + index)) ?? 0);
  const sequence = Buffer.from(codes);
  return isUtf8(sequence) ? sequence.toString('utf8') : '';
}

// Latin letters with the signs that exports garble most: the marks of U+00A0 to U+00BF, quotes and dashes.
const latin = /^[\u00a0-\u024f\u1e00-\u1eff\u2010-\u2026]$/;
const capital = /^\p{Lu}$/u;

/** Whether a Latin letter may stand in its place: no small letter between capitals, as in RĂŞCANU. */
function fitsLatin(letter: string, name: string, at: number, length: number): boolean {
  if (!latin.test(letter)) return false;
  if (!/\p{Ll}/u.test(letter)) return true;
  const before = name[at - 1] ?? '';
  return !capital.test(before) || !(capital.test(name[at + length] ?? '') || capital.test(name[at - 2] ?? ''));
}

const otherScripts =
  /^[\u0386-\u03ce\u0401-\u045f\u0490-\u04d9\u0531-\u0587\u05d0-\u05ea\u0621-\u064a\u067e-\u06cc\u0904-\u0d7f\u0e01-\u0e4d\u10a0-\u10ff\u3041-\u30fe\u3400-\u9fff\uac00-\ud7a3]$/;
