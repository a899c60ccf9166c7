import { isUtf8 } from 'node:buffer';
import type { EncodingLabel } from './encodings.js';
import { createTextDecoder } from './text-decoder.js';

/** An encoding that may be meant: characters that are frequent in names written in it, and how much a frequent one says. */
interface Candidate {
  label: EncodingLabel;
  frequent: string;
  script: RegExp;
  bytesPerCharacter: 1 | 2;
}

const latin = /\p{Script=Latin}/u;
const cyrillic = /\p{Script=Cyrillic}/u;
const han = /\p{Script=Han}/u;
const western = 'éèäöüßåøæçñáíóúàâêîôëïÉÄÖÜÅØÇÑÁãõ';
const russian = 'оеаинтсрвлкмдпуяыьгзбчйхОЕАИНТСРВЛКМДПУЯГЗБЧ';

// The first of equals wins.
const candidates: readonly Candidate[] = [
  { label: 'windows-1252', frequent: western, script: latin, bytesPerCharacter: 1 },
  { label: 'windows-1250', frequent: 'áéíóúýčďěňřšťžůąćęłńśźżőűăäöüßČŘŠŽŁŚŻŹ', script: latin, bytesPerCharacter: 1 },
  { label: 'windows-1254', frequent: 'çğıİöşüâŞĞÇÖÜ', script: latin, bytesPerCharacter: 1 },
  { label: 'windows-1257', frequent: 'ąčęėįšųūžāēģīķļņõäöüŠŽČ', script: latin, bytesPerCharacter: 1 },
  { label: 'macintosh', frequent: western, script: latin, bytesPerCharacter: 1 },
  { label: 'windows-1251', frequent: russian, script: cyrillic, bytesPerCharacter: 1 },
  { label: 'koi8-r', frequent: russian, script: cyrillic, bytesPerCharacter: 1 },
  { label: 'ibm866', frequent: russian, script: cyrillic, bytesPerCharacter: 1 },
  { label: 'iso-8859-5', frequent: russian, script: cyrillic, bytesPerCharacter: 1 },
  {
    label: 'windows-1253',
    frequent: 'αειηοςστνρπκλμυωάέήίόύώδγθχΑΓΔΚΜΝΠΣ',
    script: /\p{Script=Greek}/u,
    bytesPerCharacter: 1,
  },
  { label: 'windows-1255', frequent: 'יוהלאמרבתנשחדקםעפןכסגטזצ', script: /\p{Script=Hebrew}/u, bytesPerCharacter: 1 },
  {
    label: 'windows-1256',
    frequent: 'المينرودبتهحسعكفقخجشةىطصضزغأ',
    script: /\p{Script=Arabic}/u,
    bytesPerCharacter: 1,
  },
  { label: 'windows-874', frequent: 'านรอกเงมยลวดทสต่้ปบคหแจพชขใไะัิีุู', script: /\p{Script=Thai}/u, bytesPerCharacter: 1 },
  {
    label: 'shift_jis',
    frequent: '田中山本小林藤佐木高村井野橋川島口子美郎一太鈴のアイスンルトリラー',
    script: /[\p{Script=Han}\p{Script=Hiragana}\u30a0-\u30ff]/u,
    bytesPerCharacter: 2,
  },
  {
    label: 'euc-jp',
    frequent: '田中山本小林藤佐木高村井野橋川島口子美郎一太鈴のアイスンルトリラー',
    script: /[\p{Script=Han}\p{Script=Hiragana}\u30a0-\u30ff]/u,
    bytesPerCharacter: 2,
  },
  {
    label: 'gb18030',
    frequent: '王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗华明国文伟芳小丽军杰',
    script: han,
    bytesPerCharacter: 2,
  },
  {
    label: 'big5',
    frequent: '陳林黃張李王吳劉蔡楊許鄭謝郭洪曾邱廖賴周華明國文美淑志雅',
    script: han,
    bytesPerCharacter: 2,
  },
  {
    label: 'euc-kr',
    frequent: '김이박최정강조윤장임한오서신권황안송류전홍민수영지현성준희은진우',
    script: /\p{Script=Hangul}/u,
    bytesPerCharacter: 2,
  },
];

const sampleBytes = 16 * 1024;
const lineFeed = 0x0a;
const asciiLimit = 0x80;

/** Guesses in which encoding bytes that are not UTF-8 are written, from the letters that names in it would have; null where none fits. */
export function guessEncoding(bytes: Buffer): EncodingLabel | null {
  const sample = takeTellingLines(bytes);
  const highCount = sample.reduce((count, byte) => count + (byte >= asciiLimit ? 1 : 0), 0);
  if (highCount === 0) return null;
  const scored = candidates
    .map((candidate) => ({ label: candidate.label, score: scoreCandidate(candidate, sample) / highCount }))
    .sort((one, other) => other.score - one.score);
  const best = scored[0];
  return best !== undefined && best.score > 0.2 ? best.label : null;
}

/** Whole lines that are not UTF-8. */
function takeTellingLines(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length && length < sampleBytes; ) {
    const end = bytes.indexOf(lineFeed, at);
    const line = bytes.subarray(at, end < 0 ? Math.min(bytes.length, at + sampleBytes) : end + 1);
    if (!isUtf8(line)) {
      lines.push(line);
      length += line.length;
    }
    at = end < 0 ? bytes.length : end + 1;
  }
  return Buffer.concat(lines);
}

function scoreCandidate(candidate: Candidate, sample: Buffer): number {
  const text = createTextDecoder(candidate.label)(sample);
  if (text === null) return Number.NEGATIVE_INFINITY;
  const characters = [...text];
  let score = 0;
  for (const [at, character] of characters.entries()) {
    const [before = '', after = ''] = [characters[at - 1], characters[at + 1]];
    if (character.charCodeAt(0) >= asciiLimit) {
      score += scoreCharacter(candidate, character, before, after) * candidate.bytesPerCharacter;
    } else if (isMixed(candidate, character, before)) score -= 1;
  }
  return score;
}

function scoreCharacter(candidate: Candidate, character: string, before: string, after: string): number {
  const { frequent, script } = candidate;
  if (/\p{Cc}|\p{Co}/u.test(character)) return -2;
  if (!/[\p{L}\p{M}]/u.test(character)) return -0.5;
  // A capital within a word is what the wrong code page shows.
  if (isMixed(candidate, before, character)) return -1;
  // A letter of another script hardly stands alone.
  if (script !== latin && !script.test(before) && !script.test(after)) return 0;
  if (/\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)) return -1;
  // In Portuguese an e follows; elsewhere the byte is more likely the ő of windows-1250.
  if (character === 'õ' && after !== 'e' && candidate.label === 'windows-1252') return 0.2;
  if (frequent.includes(character)) return 1;
  return script.test(character) ? 0.2 : -0.5;
}

/** Tells whether a Latin letter of ASCII stands directly beside a letter of another script, as it does in the wrong code page. */
function isMixed({ script }: Candidate, ascii: string, other: string): boolean {
  return script !== latin && /^[A-Za-z]$/.test(ascii) && script.test(other);
}
