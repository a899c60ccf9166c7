import anyAscii from 'any-ascii';
import { countEdits } from '../near-miss.js';
import { listWords } from '../vocabulary/words.js';
import table from './words.json' with { type: 'json' };

/** One word of a name for comparison: lower-case ASCII, its sound, and its consonants. */
export interface NameToken {
  text: string;
  sound: string;
  skeleton: string;
  /** Whether its script omits vowels. */
  isVowelless: boolean;
  /** Whether it identifies nobody: a particle, an article, a legal form. */
  isFiller: boolean;
  /** Whether it is a title; `possible`: it is a name of people too. */
  title: 'certain' | 'possible' | null;
}

const words = /[\p{L}\p{M}\p{N}]+/gu;
const withinWords = /(?<=\p{L})['’‘`´ʻʼʹʺ](?=\p{L})|[\u0640\u00ad\u200b-\u200f]/gu;
/** Joins `S.A.` and `J.R.` to one word. */
const dottedLetters = /(?<=(?:^|[^\p{L}])\p{L})\.(?=\p{L}(?:[^\p{L}]|$))/gu;
/** Degrees that are written as two words. */
const degrees = /\b(?:ph\.\s?d|ll\.\s?[bm]|[bm]\.\s?sc)\b/giu;
const syllabic = /[\p{Script=Han}\p{Script=Hangul}]/u;
const eachSyllable = /[\p{Script=Han}\p{Script=Hangul}]/gu;
/** Written without a space before its word. */
const arabicArticle = /^ال(?=.{3})/u;
const vowelless = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}]/u;

/** Legal forms; those of one row are alike. */
const { alikeForms } = table;
const firstOfForm = new Map(
  alikeForms.map((row) => row.split(', ')).flatMap(([first = '', ...others]) => others.map((form) => [form, first])),
);

/** Gives one spelling to legal forms that are alike ("Limited", "Ltda" and "Ltd"); other words stay. */
export const unifyLegalForm = (text: string): string => firstOfForm.get(text) ?? text;

const fillers = new Set(listWords([...alikeForms, ...table.fillers]));

const withPlurals = (rows: readonly string[]): ReadonlySet<string> =>
  new Set(listWords(rows).flatMap((title) => [title, `${title}s`]));

/** Forms of address, degrees, offices and ranks in the languages of rosters, each with its plural. */
const certainTitles = withPlurals(table.certainTitles);
/** They cost nothing only beside two other words. */
const possibleTitles = withPlurals(table.possibleTitles);

function findTitle(text: string): NameToken['title'] {
  if (certainTitles.has(text)) return 'certain';
  return possibleTitles.has(text) ? 'possible' : null;
}

function toToken(text: string, isVowelless: boolean): NameToken {
  const sound = toSound(text);
  const title = findTitle(text);
  return { text, sound, skeleton: toSkeleton(sound), isVowelless, isFiller: fillers.has(text), title };
}

/** Two neighbours read as one word. */
const joinTokens = (left: NameToken, right: NameToken): NameToken =>
  toToken(left.text + right.text, left.isVowelless || right.isVowelless);

/** Splits a name into words for comparison. Compatibility forms, case, accents, scripts and punctuation are folded; the order is kept. */
export function foldName(name: string): readonly NameToken[] {
  const plain = name
    .normalize('NFKC')
    .replace(withinWords, '')
    .replace(degrees, (degree) => degree.replace(/\W/g, ''))
    .replace(dottedLetters, '');
  return (plain.match(words) ?? []).flatMap(splitWord);
}

function splitWord(word: string): readonly NameToken[] {
  // Each character is a syllable, and the division of names varies.
  const spaced = syllabic.test(word) ? word.replace(eachSyllable, ' $& ') : word.replace(arabicArticle, '$& ');
  return spaced
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const text = toAscii(part);
      return text === '' ? [] : [toToken(text, vowelless.test(part))];
    });
}

/** One sound, written as two letters. */
const greekU = /ο[υύ]/giu;

const toAscii = (word: string): string =>
  anyAscii(word.replace(greekU, 'u').normalize('NFKD').replace(/\p{M}/gu, dropAccent))
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

/** Removes accents of Latin, Greek and Cyrillic; marks that are vowels of their script are kept. */
const dropAccent = (sign: string): string => (/\p{Script=Inherited}/u.test(sign) ? '' : sign);

const spellings: readonly (readonly [RegExp, string])[] = [
  // The Arabic article within a name assimilates to the next letter, in some spellings only: Abdulrahman, Abdurrahman.
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

/** Spells a word as it sounds, so that usual transliterations of one name become equal; digits stay. */
function toSound(text: string): string {
  return spellings.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);
}

function toSkeleton(sound: string): string {
  return sound.replace(/[aeiouv]/g, '').replace(/(.)\1+/g, '$1');
}

/** Letters that scripts without vowels do not distinguish: Arabic has no p and no v, Hebrew one letter for p and f. */
const labials = /[bpfv]/g;

const toBareSkeleton = (sound: string): string =>
  toSkeleton(sound)
    .replace(labials, '')
    .replace(/(.)\1+/g, '$1');

function isSameInConsonants(left: string, right: string): boolean {
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

const mostNeighbours = 3;
const longestJoined = 24;

/** The words of a name, and joins of up to three neighbours. */
function toPieces(tokens: readonly NameToken[]): readonly { places: readonly number[]; token: NameToken }[] {
  const pieces: { places: readonly number[]; token: NameToken }[] = [];
  for (const [from, token] of tokens.entries()) {
    const places = [from];
    pieces.push({ places: [from], token });
    let joined = token;
    for (const [offset, next] of tokens.slice(from + 1, from + mostNeighbours).entries()) {
      joined = joinTokens(joined, next);
      if (joined.text.length > longestJoined) break;
      places.push(from + 1 + offset);
      pieces.push({ places: [...places], token: joined });
    }
  }
  return pieces;
}

/** The likeness of two words by what they share; it is lower for short words that only sound alike, because these are frequent. */
const likenesses = {
  text: 1,
  sound: 0.95,
  shortSound: 0.8,
  oneEdit: 0.85,
  shortEdit: 0.7,
  vowelless: 0.95,
  shortVowelless: 0.85,
  bareVowelless: 0.8,
  skeleton: 0.75,
  twoEdits: 0.7,
};
const shortestSound = 4;
const shortestEdited = 4;
const shortestEditedSurely = 5;
const shortestEditedTwice = 8;
const shortestVowelless = 2;
const vowels = /[aeiou]/;
const shortestBare = 3;
const shortestSkeleton = 4;
const shortestJoinedSkeleton = 5;
const maxRemembered = 100_000;

/** The words of a list, indexed by letters, sound, consonants and small slips. */
export class WordIndex {
  readonly #tokens: NameToken[] = [];
  readonly #byText = new Map<string, number>();
  readonly #bySound = new Map<string, number[]>();
  readonly #bySkeleton = new Map<string, number[]>();
  /** Sounds with one letter removed: two words that share one are at most two edits apart. */
  readonly #byShortened = new Map<string, number[]>();
  /** Consonants without b, p, f and v, of all words and of those in scripts without vowels. */
  readonly #byBare = new Map<string, number[]>();
  readonly #byBareVowelless = new Map<string, number[]>();
  readonly #isSingle = new Set<number>();
  readonly #remembered = new Map<string, ReadonlyMap<number, number>>();

  /** Adds the pieces of a name, and gives each with its positions and the number of its word. */
  addPieces(tokens: readonly NameToken[]) {
    return toPieces(tokens).map(({ places, token }) => ({ places, id: this.#add(token, places.length > 1) }));
  }

  #add(token: NameToken, isJoined: boolean): number {
    const known = this.#byText.get(token.text);
    const id = known ?? this.#tokens.push(token) - 1;
    if (known === undefined) {
      this.#byText.set(token.text, id);
      push(this.#bySound, token.sound, id);
      if (token.skeleton !== '') push(this.#bySkeleton, token.skeleton, id);
      const bare = toBareSkeleton(token.sound);
      push(this.#byBare, bare, id);
      if (token.isVowelless) push(this.#byBareVowelless, bare, id);
    }
    if (!isJoined && !this.#isSingle.has(id)) {
      this.#isSingle.add(id);
      if (token.sound.length >= shortestEdited)
        for (const shortened of shorten(token.sound)) push(this.#byShortened, shortened, id);
    }
    return id;
  }

  idOf(text: string): number | undefined {
    return this.#byText.get(text);
  }

  at(id: number): NameToken | undefined {
    return this.#tokens[id];
  }

  /** The pieces of a name that resemble listed words, with the numbers of these and their likeness. */
  findPieces(tokens: readonly NameToken[]) {
    return toPieces(tokens).flatMap(({ places, token }) => {
      const likeIds = this.#find(token, places.length > 1);
      return likeIds.size === 0 ? [] : [{ places, likeIds }];
    });
  }

  /** The numbers of similar words with their likeness, 1 for the same letters. Only single words are searched for slips. */
  #find(token: NameToken, isJoined: boolean): ReadonlyMap<number, number> {
    if (isJoined) return this.#search(token, isJoined);
    const key = token.isVowelless ? `${token.text}~` : token.text;
    const known = this.#remembered.get(key);
    if (known) return known;
    const found = this.#search(token, isJoined);
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(key, found);
    return found;
  }

  #search(token: NameToken, isJoined: boolean): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const note = (id: number, likeness: number): void => {
      if (likeness > (found.get(id) ?? 0)) found.set(id, likeness);
    };
    const same = this.#byText.get(token.text);
    if (same !== undefined) note(same, likenesses.text);
    if (/\d/.test(token.text) || token.text.length === 1) return found;
    const soundLikeness = token.sound.length < shortestSound ? likenesses.shortSound : likenesses.sound;
    for (const id of this.#bySound.get(token.sound) ?? []) note(id, soundLikeness);
    for (const id of this.#bySkeleton.get(token.skeleton) ?? []) note(id, this.#rateSkeleton(token, id, isJoined));
    const alsoBare = token.isVowelless ? this.#byBare : this.#byBareVowelless;
    if (alsoBare.size > 0) {
      for (const id of alsoBare.get(toBareSkeleton(token.sound)) ?? []) note(id, this.#rateBare(token, id));
    }
    if (!isJoined) for (const id of this.#findEdited(token)) note(id, this.#rateEdits(token, id));
    return found;
  }

  #rateSkeleton(token: NameToken, id: number, isJoined: boolean): number {
    const { skeleton } = token;
    const other = this.#tokens[id];
    if (token.isVowelless || other?.isVowelless) {
      if (skeleton.length > shortestVowelless) return likenesses.vowelless;
      if (skeleton.length === shortestVowelless) return likenesses.shortVowelless;
      // A single consonant is not enough: the long vowels, which are written, must match as well.
      const [written, whole] = token.isVowelless ? [token.sound, other?.sound] : [other?.sound, token.sound];
      return written !== undefined && isWithoutVowels(written, whole ?? '') ? likenesses.shortVowelless : 0;
    }
    return skeleton.length >= (isJoined || !this.#isSingle.has(id) ? shortestJoinedSkeleton : shortestSkeleton)
      ? likenesses.skeleton
      : 0;
  }

  #rateBare({ sound }: NameToken, id: number): number {
    const other = this.#tokens[id]?.sound ?? '';
    const consonants = Math.min(countConsonants(sound), countConsonants(other));
    return consonants >= shortestBare && isSameInConsonants(sound, other) ? likenesses.bareVowelless : 0;
  }

  #findEdited({ sound }: NameToken): ReadonlySet<number> {
    const ids = new Set<number>();
    if (sound.length < shortestEdited) return ids;
    for (const id of this.#byShortened.get(sound) ?? []) ids.add(id);
    for (const key of shorten(sound)) {
      for (const id of this.#byShortened.get(key) ?? []) ids.add(id);
      for (const id of this.#bySound.get(key) ?? []) ids.add(id);
    }
    return ids;
  }

  #rateEdits({ sound }: NameToken, id: number): number {
    const other = this.#tokens[id]?.sound ?? '';
    const shortest = Math.min(sound.length, other.length);
    if (shortest < shortestEdited) return 0;
    if (isWithinEdits(sound, other, 1))
      return shortest < shortestEditedSurely ? likenesses.shortEdit : likenesses.oneEdit;
    return shortest >= shortestEditedTwice && isWithinEdits(sound, other, 2) ? likenesses.twoEdits : 0;
  }
}

function push(map: Map<string, number[]>, key: string, id: number): void {
  const ids = map.get(key);
  if (ids) ids.push(id);
  else map.set(key, [id]);
}

const countConsonants = (sound: string): number => sound.replace(/[aeiou]/g, '').length;

function isWithoutVowels(written: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) {
    if (letter === written[at]) at += 1;
    else if (!vowels.test(letter)) return false;
  }
  return at === written.length && written.length > 1;
}

function shorten(sound: string): ReadonlySet<string> {
  const shortened = new Set<string>();
  for (let at = 0; at < sound.length; at += 1) shortened.add(sound.slice(0, at) + sound.slice(at + 1));
  return shortened;
}

/** Whether at most `most` insertions, deletions, changes of a letter or swaps of neighbours turn one word into the other. */
export function isWithinEdits(left: string, right: string, most: number): boolean {
  if (Math.abs(left.length - right.length) > most) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const shortest = Math.min(left.length, right.length) - start;
  while (end < shortest && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [ours, theirs] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  if (ours.length <= most && theirs.length <= most) return true;
  return countEdits(ours, theirs) <= most;
}

/**
 * Whether two different words are one slip apart: neighbours swapped, or, in longer words, a letter dropped, added or
 * changed. Words with digits never match: another number is another name.
 */
export function isOneSlip(left: string, right: string): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  if (longer.length - shorter.length > 1 || left === right) return false;
  // One slip keeps the first or the last letter, except in words of two letters. Most pairs end here.
  const isEitherSame = left[0] === right[0] || left[left.length - 1] === right[right.length - 1];
  if (!isEitherSame && longer.length > 2) return false;
  // A changed letter always changes the sum of the letters, a swap never does.
  const isShort = shorter.length < 3 || longer.length < 4;
  if (isShort && (shorter.length < longer.length || sumLetters(left) !== sumLetters(right))) return false;
  return isWithinEdits(left, right, 1) && !digits.test(left) && !digits.test(right);
}

const digits = /\d/;

function sumLetters(word: string): number {
  let sum = 0;
  for (let at = 0; at < word.length; at += 1) sum += word.charCodeAt(at);
  return sum;
}
