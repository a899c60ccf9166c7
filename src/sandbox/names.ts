import anyAscii from 'any-ascii';

// Applied in this order; each rule gives the usual transliterations of one sound one spelling.
const RULES: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/t?sch|sh|ch|cz|sz|tch/g, 's'],
  [/dzh|dj|zh/g, 'j'],
  [/([kgdt])h/g, '$1'],
  [/ck|q|x/g, 'k'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/z/g, 's'],
  [/w/g, 'v'],
  [/ou|oo/g, 'u'],
  [/ee|ii|iy|yi|ij|yy|ie|ey/g, 'i'],
  [/[yj]/g, 'i'],
  [/o/g, 'u'],
  [/e/g, 'a'],
  [/(.)\1+/g, '$1'],
];

/** The sound of a lower-case ASCII word: common transliterations of one name become equal. */
const soundOf = (text: string): string =>
  RULES.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);

/** One word of a folded name: lower-case ASCII `text`, its sound, and its consonants. */
export interface NameToken {
  text: string;
  /** The text with one spelling for each sound. */
  sound: string;
  /** The consonants of `sound`; empty for fewer than two. */
  skeleton: string;
  /** Written in a script without vowels (Arabic, Hebrew). */
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

/** Splits a name into comparable words in order: case, accents, scripts and punctuation are folded. */
export const foldName = (name: string): NameToken[] => {
  const plain = name.normalize('NFKC').replace(QUOTES, '').replace(DOTTED_LETTERS, '');
  return (plain.match(WORD) ?? []).flatMap(splitWord).filter((token) => token.text !== '');
};

const PREFIX_WEIGHT = 0.1;
const PREFIX_LENGTH = 4;

const commonPrefixLength = (left: string, right: string): number => {
  let length = 0;
  while (length < PREFIX_LENGTH && length < left.length && left[length] === right[length]) length += 1;
  return length;
};

const jaro = (left: string, right: string): number => {
  const reach = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1);
  const isTaken = new Uint8Array(right.length);
  let matchedLeft = '';
  for (let index = 0; index < left.length; index += 1) {
    const end = Math.min(right.length, index + reach + 1);
    for (let other = Math.max(0, index - reach); other < end; other += 1) {
      if (isTaken[other] === 1 || left.charCodeAt(index) !== right.charCodeAt(other)) continue;
      isTaken[other] = 1;
      matchedLeft += left.charAt(index);
      break;
    }
  }
  const common = matchedLeft.length;
  if (common === 0) return 0;
  let outOfPlace = 0;
  for (let other = 0, place = 0; other < right.length; other += 1) {
    if (isTaken[other] !== 1) continue;
    if (right.charCodeAt(other) !== matchedLeft.charCodeAt(place)) outOfPlace += 1;
    place += 1;
  }
  return (common / left.length + common / right.length + (common - outOfPlace / 2) / common) / 3;
};

/** Jaro-Winkler similarity of two strings, 0 (nothing in common) to 1 (equal). */
const jaroWinkler = (left: string, right: string): number => {
  if (left === right) return 1;
  const similarity = jaro(left, right);
  return similarity + commonPrefixLength(left, right) * PREFIX_WEIGHT * (1 - similarity);
};

/** Less similar words are different words. */
export const MIN_TOKEN_SIMILARITY = 0.82;

const SAME_SOUND = 0.97;
const SAME_SKELETON = 0.9;
const SAME_SKELETON_VOWELLESS = 0.94;
/** The similarity of a word and its initial. */
const INITIAL_SIMILARITY = 0.9;

const isInitialOf = (short: string, long: string): boolean =>
  short.length === 1 && long.length > 1 && long.startsWith(short);

/** The similarity of two words when one is the initial of the other; 0 for others. */
export const initialSimilarity = (left: NameToken, right: NameToken): number =>
  isInitialOf(left.text, right.text) || isInitialOf(right.text, left.text) ? INITIAL_SIMILARITY : 0;

/** How likely two words are the same word, 0 to 1: the best of spelling, sound and consonants. */
const tokenSimilarity = (left: NameToken, right: NameToken): number => {
  if (left.text === right.text) return 1;
  if (initialSimilarity(left, right) > 0) return INITIAL_SIMILARITY;
  // A word of three letters or less leaves no room for a typing error.
  if (Math.min(left.text.length, right.text.length) < 3) return 0;
  if (left.sound === right.sound) return SAME_SOUND;
  const sameSkeleton = left.skeleton !== '' && left.skeleton === right.skeleton;
  if (left.isVowelless !== right.isVowelless) return sameSkeleton ? SAME_SKELETON_VOWELLESS : 0;
  const spelled = jaroWinkler(left.text, right.text);
  const heard = jaroWinkler(left.sound, right.sound) - 0.03;
  const best = Math.max(spelled, heard);
  return sameSkeleton && left.skeleton.length >= 3 ? Math.max(best, SAME_SKELETON) : best;
};

const MIN_SHARED = 0.42;
const MIN_LENGTH_RATIO = 0.5;

const bigramsOf = (text: string): string[] => {
  const padded = `^${text}$`;
  return Array.from({ length: padded.length - 1 }, (_, index) => padded.slice(index, index + 2));
};

/** Indexes words by letter pairs, word ends included; finds the words that share enough pairs with a given one. */
const createBigramIndex = (words: readonly string[]) => {
  const growing = new Map<string, number[]>();
  words.forEach((word, place) => {
    for (const bigram of bigramsOf(word)) {
      const group = growing.get(bigram);
      if (group) group.push(place);
      else growing.set(bigram, [place]);
    }
  });
  const places = new Map([...growing].map(([bigram, group]) => [bigram, Int32Array.from(group)]));
  const lengths = Int32Array.from(words, (word) => word.length);
  const shared = new Int32Array(words.length);

  return {
    findClose: (text: string): number[] => {
      const touched: number[] = [];
      const bigrams = bigramsOf(text);
      for (const bigram of bigrams) {
        const group = places.get(bigram);
        if (!group) continue;
        for (const place of group) {
          const count = shared[place] ?? 0;
          if (count === 0) touched.push(place);
          shared[place] = count + 1;
        }
      }
      const close: number[] = [];
      for (const place of touched) {
        const length = lengths[place] ?? 0;
        const share = (2 * (shared[place] ?? 0)) / (bigrams.length + length + 1);
        shared[place] = 0;
        const ratio = length < text.length ? length / text.length : text.length / length;
        if (share >= MIN_SHARED && ratio >= MIN_LENGTH_RATIO) close.push(place);
      }
      return close;
    },
  };
};

/** The known words similar to a given one, each with its similarity. */
export type SimilarTerms = ReadonlyMap<NameToken, number>;

const CACHED_TOKENS = 20_000;

const groupBy = (terms: readonly NameToken[], toKey: (term: NameToken) => string): Map<string, NameToken[]> => {
  const groups = new Map<string, NameToken[]>();
  for (const term of terms) {
    const key = toKey(term);
    if (key === '') continue;
    const group = groups.get(key);
    if (group) group.push(term);
    else groups.set(key, [term]);
  }
  return groups;
};

const keepSimilar = (token: NameToken, candidates: Iterable<NameToken>): SimilarTerms => {
  const similar = new Map<NameToken, number>();
  for (const term of candidates) {
    const similarity = tokenSimilarity(token, term);
    if (similarity >= MIN_TOKEN_SIMILARITY) similar.set(term, similarity);
  }
  return similar;
};

/** A key for a word; words of vowelless scripts have their own, because they are compared by other rules. */
export const toTermKey = (token: NameToken): string => (token.isVowelless ? `*${token.text}` : token.text);

/** Indexes words by letter pairs, sound and consonants, and pairs of words by sound; finds similar ones without comparing all. */
export const createTermIndex = (words: readonly NameToken[], joined: readonly NameToken[]) => {
  const byText = groupBy(words, (term) => term.text);
  const bySound = groupBy([...words, ...joined], (term) => term.sound);
  const bySkeleton = groupBy(words, (term) => term.skeleton);
  const byBigrams = createBigramIndex(words.map((term) => term.text));
  const cache = new Map<string, SimilarTerms>();

  const find = (token: NameToken): SimilarTerms => {
    const sameSound = bySound.get(token.sound) ?? [];
    if (token.text.length < 3) return keepSimilar(token, [...(byText.get(token.text) ?? []), ...sameSound]);
    const close = byBigrams.findClose(token.text).flatMap((place) => words[place] ?? []);
    return keepSimilar(token, new Set([...close, ...sameSound, ...(bySkeleton.get(token.skeleton) ?? [])]));
  };

  return {
    findSimilar: (token: NameToken): SimilarTerms => {
      const key = toTermKey(token);
      const known = cache.get(key);
      if (known) return known;
      const similar = find(token);
      if (cache.size >= CACHED_TOKENS) cache.clear();
      cache.set(key, similar);
      return similar;
    },
    /** Only words with the same sound: for pairs of words, similar ones would be noise. */
    findSameSound: (token: NameToken): SimilarTerms => keepSimilar(token, bySound.get(token.sound) ?? []),
  };
};
