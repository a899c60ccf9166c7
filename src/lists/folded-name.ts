import anyAscii from 'any-ascii';

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

const spellings: readonly (readonly [RegExp, string])[] = [
  // The Arabic article within a name takes the sound of the letter after it, in some spellings only: Abdulrahman, Abdurrahman.
  [/^a?bd(?:[aeiou]l?|l)(?=[b-df-hj-np-tv-z])/g, 'abdu'],
  [/(?<=..)[aeiou]{1,2}[ld]?d(?=[ie]{1,2}n)/g, 'ud'],
  [/ph/g, 'f'],
  [/(?:s?ch|tch|tsch|sh|sz|cz|[ct]s(?=h))/g, 'x'],
  [/(?:dzh|dj|zh|j)/g, 'j'],
  [/(?:kh|gh)/g, 'k'],
  [/([bdt])h/g, '$1'],
  [/c(?=[eiy])/g, 's'],
  [/(?:ck|[cq])/g, 'k'],
  [/z/g, 's'],
  [/w/g, 'v'],
  [/(?:ou|oo|o)/g, 'u'],
  [/(?:ee|ie|ei|ey|y|e)/g, 'i'],
  [/ai|ay|ae/g, 'i'],
  [/g/g, 'k'],
  [/(.)\1+/g, '$1'],
  [/(?<=.)h$/g, ''],
];

/** Spells a word as it sounds, so that usual transliterations of one name come out alike; figures stay. */
function toSound(text: string): string {
  return spellings.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);
}

/** The consonants of a sound. */
function toSkeleton(sound: string): string {
  return sound.replace(/[aeiouv]/g, '').replace(/(.)\1+/g, '$1');
}

/** What a script without vowels writes beside each other or not at all: Arabic has no p and no v, Hebrew one letter for p and f. */
const labials = /[bpfv]/g;

/** The consonants of a sound without those for which scripts without vowels have no letter of their own. */
export const toBareSkeleton = (sound: string): string =>
  toSkeleton(sound)
    .replace(labials, '')
    .replace(/(.)\1+/g, '$1');

/** Whether two sounds have the same consonants when b, p, f and v are one; a v may also be a vowel. */
export function isSameInConsonants(left: string, right: string): boolean {
  return agree(toConsonants(left), toConsonants(right), 0, 0);
}

const toConsonants = (sound: string): string =>
  sound
    .replace(/[aeiou]/g, '')
    .replace(/[bpf]/g, 'b')
    .replace(/([^v])\1+/g, '$1');

function agree(left: string, right: string, ours: number, theirs: number): boolean {
  const [one, other] = [left[ours], right[theirs]];
  if (one === undefined && other === undefined) return true;
  const isAlike = one === other || (one === 'v' && other === 'b') || (one === 'b' && other === 'v');
  if (one !== undefined && isAlike && agree(left, right, ours + 1, theirs + 1)) return true;
  if (one === 'v' && agree(left, right, ours + 1, theirs)) return true;
  return other === 'v' && agree(left, right, ours, theirs + 1);
}

const scripts = [
  'Latin',
  'Arabic',
  'Cyrillic',
  'Han',
  'Hangul',
  'Hiragana',
  'Katakana',
  'Hebrew',
  'Greek',
  'Devanagari',
  'Bengali',
  'Thai',
  'Georgian',
  'Armenian',
  'Myanmar',
  'Khmer',
  'Tamil',
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'gu') }));

/** The script in which most letters of a name are written; `Other` when it is none of the usual ones. */
export function scriptOf(name: string): string {
  const counts = scripts.map(({ name: script, letter }) => ({ script, letters: name.match(letter)?.length ?? 0 }));
  const most = counts.reduce((best, next) => (next.letters > best.letters ? next : best), {
    script: 'Other',
    letters: 0,
  });
  return most.script;
}
