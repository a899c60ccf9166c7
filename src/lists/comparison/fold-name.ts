import anyAscii from 'any-ascii';
import { toSkeleton, toSound } from './token-sound.js';

/** One word of a name as names are compared: lower-case ASCII, how it sounds, and its consonants. */
export interface NameToken {
  text: string;
  sound: string;
  skeleton: string;
  /** Written in a script that leaves vowels out. */
  isVowelless: boolean;
  /** Says nothing about who is meant: a particle, an article, a legal form. */
  isFiller: boolean;
}

const words = /[\p{L}\p{M}\p{N}]+/gu;
const withinWords = /(?<=\p{L})['’‘`´ʻʼʹʺ](?=\p{L})|[\u0640\u00ad\u200b-\u200f]/gu;
/** `S.A.` and `J.R.` are one word. */
const dottedLetters = /(?<=(?:^|[^\p{L}])\p{L})\.(?=\p{L}(?:[^\p{L}]|$))/gu;
const syllabic = /[\p{Script=Han}\p{Script=Hangul}]/u;
const eachSyllable = /[\p{Script=Han}\p{Script=Hangul}]/gu;
/** Written together with the word that it belongs to. */
const arabicArticle = /^ال(?=.{3})/u;
const vowelless = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}]/u;

const fillers = new Set(
  [
    'al el ul ad ed as es ash ar az an at bin ibn ben bint abu abou abi umm um haji hajj hadji sheikh shaykh sayyid sayed mullah maulavi mawlawi',
    'de del della des di da do dos das du la le las los y e van von der den ter ten zu zur af av of the and und bn abn bnt abw et und fuer for',
    'dr mr mrs ms prof gen col sr jr ii iii',
    'ltd limited llc llp lp inc incorporated corp corporation co company gmbh ag kg ohg sa sas sarl srl spa sl slu cv rl bv nv plc pte pty',
    'jsc ojsc pjsc cjsc ooo oao zao ao pao fze fzco fzc dmcc ltda cia kft doo dd ab as asa oy aps sdn bhd pvt est',
  ]
    .join(' ')
    .split(' '),
);

/** A word of a name, from its letters in lower-case ASCII. */
export function toToken(text: string, isVowelless: boolean): NameToken {
  const sound = toSound(text);
  return { text, sound, skeleton: toSkeleton(sound), isVowelless, isFiller: fillers.has(text) };
}

/** Splits a name into words to compare: compatibility forms, case, accents, scripts and punctuation are folded, the order is kept. */
export function foldName(name: string): readonly NameToken[] {
  const plain = name.normalize('NFKC').replace(withinWords, '').replace(dottedLetters, '');
  return (plain.match(words) ?? []).flatMap(splitWord);
}

function splitWord(word: string): readonly NameToken[] {
  // Each character is a syllable, and writers do not agree on where names are divided.
  const spaced = syllabic.test(word) ? word.replace(eachSyllable, ' $& ') : word.replace(arabicArticle, '$& ');
  return spaced
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const text = toAscii(part);
      return text === '' ? [] : [toToken(text, vowelless.test(part))];
    });
}

/** One sound in two letters. */
const greekU = /ο[υύ]/giu;

const toAscii = (word: string): string =>
  anyAscii(word.replace(greekU, 'u').normalize('NFKD').replace(/\p{M}/gu, dropAccent))
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

/** Accents of Latin, Greek and Cyrillic go; marks that are vowels of their script stay. */
const dropAccent = (sign: string): string => (/\p{Script=Inherited}/u.test(sign) ? '' : sign);
