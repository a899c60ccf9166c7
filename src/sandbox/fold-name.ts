import anyAscii from 'any-ascii';
import { soundOf } from './sound-of.js';

/** One word of a folded name: lower-case ASCII `text`, how it sounds, and its consonants. */
export interface NameToken {
  text: string;
  /** The text with spellings of one sound made equal. */
  sound: string;
  /** The consonants of `sound`; empty when there are fewer than two. */
  skeleton: string;
  /** Written in a script that leaves out vowels (Arabic, Hebrew). */
  isVowelless: boolean;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const QUOTES = /['’‘`´ʻʼʹʺ"“”]/gu;
const DOTTED_LETTERS = /(?<=(?:^|[^\p{L}])\p{L})\.(?=\p{L}(?:[^\p{L}]|$))/gu;
const SYLLABIC = /[\p{Script=Han}\p{Script=Hangul}]/u;
const VOWELLESS = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const ARABIC_ARTICLE = /^ال(?=.{3})/u;

const toToken = (text: string, isVowelless: boolean): NameToken => {
  const sound = soundOf(text);
  const consonants = sound.replace(/[aeiouv0-9]/g, '');
  return { text, sound, skeleton: consonants.length >= 2 ? consonants : '', isVowelless };
};

/** Two neighbouring words read as one. */
export const joinTokens = (left: NameToken, right: NameToken): NameToken =>
  toToken(left.text + right.text, left.isVowelless || right.isVowelless);

const toAscii = (word: string): string =>
  anyAscii(word)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

// The transliteration writes Han and Hangul as one capitalised syllable per character and no space,
// so "김정은" and "김 정은" both become three tokens.
const splitWord = (word: string): NameToken[] => {
  if (SYLLABIC.test(word)) {
    const syllables = anyAscii(word).match(/[A-Z]?[a-z]+|[A-Z]|[0-9]+/g) ?? [];
    return syllables.map((syllable) => toToken(syllable.toLowerCase(), false));
  }
  if (!VOWELLESS.test(word)) return [toToken(toAscii(word), false)];
  const stem = word.replace(ARABIC_ARTICLE, '');
  const rest = toToken(toAscii(stem), true);
  return stem === word ? [rest] : [toToken('al', false), rest];
};

/** Splits a name into comparable words: case, accents, scripts and punctuation are folded, order is kept. */
export const foldName = (name: string): NameToken[] => {
  const plain = name.normalize('NFKC').replace(QUOTES, '').replace(DOTTED_LETTERS, '');
  return (plain.match(WORD) ?? []).flatMap(splitWord).filter((token) => token.text !== '');
};
