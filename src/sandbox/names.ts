import { foldName, joinTokens, type NameToken, unifyLegalForm } from '../names/words.js';

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

const jaroWinkler = (left: string, right: string): number => {
  if (left === right) return 1;
  const similarity = jaro(left, right);
  return similarity + commonPrefixLength(left, right) * PREFIX_WEIGHT * (1 - similarity);
};

/** Less similar words are different words. */
const MIN_TOKEN_SIMILARITY = 0.82;

const SAME_SOUND = 0.97;
const SAME_SKELETON = 0.9;
const SAME_SKELETON_VOWELLESS = 0.94;
const INITIAL_SIMILARITY = 0.9;

const isInitialOf = (short: string, long: string): boolean =>
  short.length === 1 && long.length > 1 && long.startsWith(short);

/** The similarity of two words when one is the initial of the other; 0 for others. */
const initialSimilarity = (left: NameToken, right: NameToken): number =>
  isInitialOf(left.text, right.text) || isInitialOf(right.text, left.text) ? INITIAL_SIMILARITY : 0;

/** How likely two words are the same word, 0 to 1: the best of spelling, sound and consonants. */
const tokenSimilarity = (left: NameToken, right: NameToken): number => {
  if (left.text === right.text) return 1;
  if (initialSimilarity(left, right) > 0) return INITIAL_SIMILARITY;
  // A word of three letters or less leaves no room for a typing error.
  if (Math.min(left.text.length, right.text.length) < 3) return 0;
  if (left.sound === right.sound) return SAME_SOUND;
  const sameSkeleton = left.skeleton.length >= 2 && left.skeleton === right.skeleton;
  if (left.isVowelless !== right.isVowelless) return sameSkeleton ? SAME_SKELETON_VOWELLESS : 0;
  const spelled = jaroWinkler(left.text, right.text);
  const heard = jaroWinkler(left.sound, right.sound) - 0.03;
  const best = Math.max(spelled, heard);
  return sameSkeleton && left.skeleton.length >= 3 ? Math.max(best, SAME_SKELETON) : best;
};

const addTo = <Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void => {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
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
    for (const bigram of bigramsOf(word)) addTo(growing, bigram, place);
  });
  const places = new Map([...growing].map(([bigram, group]) => [bigram, Int32Array.from(group)]));
  const lengths = Int32Array.from(words, (word) => word.length);
  const shared = new Int32Array(words.length);

  return (text: string): number[] => {
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
  };
};

type SimilarTerms = ReadonlyMap<NameToken, number>;

const CACHED_TOKENS = 20_000;

const groupBy = (terms: readonly NameToken[], toKey: (term: NameToken) => string): Map<string, NameToken[]> => {
  const groups = new Map<string, NameToken[]>();
  for (const term of terms) {
    const key = toKey(term);
    if (key !== '') addTo(groups, key, term);
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
const toTermKey = (token: NameToken): string => (token.isVowelless ? `*${token.text}` : token.text);

/** Indexes words by letter pairs, sound and consonants, and pairs of words by sound; finds similar ones without comparing all. */
const createTermIndex = (words: readonly NameToken[], joined: readonly NameToken[]) => {
  const byText = groupBy(words, (term) => term.text);
  const bySound = groupBy([...words, ...joined], (term) => term.sound);
  const bySkeleton = groupBy(words, ({ skeleton }) => (skeleton.length < 2 ? '' : skeleton));
  const findClose = createBigramIndex(words.map((term) => term.text));
  const cache = new Map<string, SimilarTerms>();

  const find = (token: NameToken): SimilarTerms => {
    const sameSound = bySound.get(token.sound) ?? [];
    if (token.text.length < 3) return keepSimilar(token, [...(byText.get(token.text) ?? []), ...sameSound]);
    const close = findClose(token.text).flatMap((place) => words[place] ?? []);
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

type NameKind = 'person' | 'entity';

const words = (list: string): readonly string[] => list.trim().split(/\s+/);

const GENERIC = new Set(
  words(`the and of for de la et und y e group holding holdings international intl trading trade bank banco banque
  industries industry industrial services service general national enterprise enterprises import export commercial
  investment investments management shipping technology technologies engineering construction global solutions capital
  partners consulting foundation organization organisation association institute center centre`),
);

/** How distinctive a word is: 1 for a normal word, less for initials, particles and legal forms. */
const wordWeight = ({ text, isFiller }: NameToken, kind: NameKind): number => {
  if (kind === 'entity') {
    if (isFiller) return 0.1;
    if (GENERIC.has(text)) return text.length <= 3 ? 0.1 : 0.5;
    return text.length === 1 ? 0.4 : 1;
  }
  if (isFiller) return 0.2;
  return text.length === 1 ? 0.4 : text.length === 2 ? 0.8 : 1;
};

interface ScorableName {
  tokens: readonly NameToken[];
  /** `joined[i]` is word i and word i+1 read as one. */
  joined: readonly NameToken[];
  weights: readonly number[];
  weight: number;
}

interface Pairing {
  left: number;
  leftLength: 1 | 2;
  right: number;
  rightLength: 1 | 2;
  similarity: number;
}

const MIN_JOINED_SIMILARITY = 0.93;
/** The cost of a word that both names have in different form, and of a word that only one has. */
const REPLACED_COST = 1.15;
const EXTRA_COST: Record<NameKind, number> = { person: 0.26, entity: 0.6 };
/** Below this matched weight, an extra word costs as much as another word: "Ali" is not "Ali Hassan". */
const MIN_MATCHED_WEIGHT = 1.6;

/** The Arabic article, which its script writes without its vowel, and one spelling of each legal form. */
const toComparable = (token: NameToken, kind: NameKind): NameToken => {
  if (token.isVowelless && token.text === 'l') return { ...token, text: 'al', isVowelless: false, isFiller: true };
  return kind === 'entity' ? { ...token, text: unifyLegalForm(token.text) } : token;
};

const toScorableName = (name: string, kind: NameKind): ScorableName => {
  const tokens = foldName(name).map((token) => toComparable(token, kind));
  const joined = tokens.slice(1).flatMap((token, index) => {
    const before = tokens[index];
    return before ? [joinTokens(before, token)] : [];
  });
  const weights = tokens.map((token) => wordWeight(token, kind));
  return { tokens, joined, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
};

const findPairings = (
  left: ScorableName,
  right: ScorableName,
  compare: (left: NameToken, right: NameToken) => number,
): Pairing[] => {
  const pairings: Pairing[] = [];
  const compareAll = (leftLength: 1 | 2, rightLength: 1 | 2): void => {
    const least = leftLength === rightLength ? MIN_TOKEN_SIMILARITY : MIN_JOINED_SIMILARITY;
    const lefts = leftLength === 1 ? left.tokens : left.joined;
    const rights = rightLength === 1 ? right.tokens : right.joined;
    for (const [i, token] of lefts.entries()) {
      for (const [j, other] of rights.entries()) {
        const similarity = compare(token, other);
        if (similarity >= least) pairings.push({ left: i, leftLength, right: j, rightLength, similarity });
      }
    }
  };
  compareAll(1, 1);
  compareAll(1, 2);
  compareAll(2, 1);
  return pairings.sort((a, b) => b.similarity - a.similarity || b.leftLength - a.leftLength);
};

/** The weight of the words on one side of a pairing; undefined when one of them is already used. */
const weighUnused = (
  name: ScorableName,
  used: ReadonlySet<number>,
  start: number,
  length: 1 | 2,
): number | undefined => {
  if (used.has(start) || (length === 2 && used.has(start + 1))) return undefined;
  return (name.weights[start] ?? 0) + (length === 2 ? (name.weights[start + 1] ?? 0) : 0);
};

/** The score of names: paired words weigh `matched` and agree by `agreed`, the other words are left over. */
const combineScore = (matched: number, agreed: number, leftOver: number, rightOver: number, kind: NameKind): number => {
  if (matched === 0) return 0;
  const replaced = Math.min(leftOver, rightOver);
  const extra = Math.abs(leftOver - rightOver);
  const extraCost = matched >= MIN_MATCHED_WEIGHT ? EXTRA_COST[kind] : 1;
  return agreed / (matched + replaced * REPLACED_COST + extra * extraCost);
};

const scoreNames = (
  left: ScorableName,
  right: ScorableName,
  kind: NameKind,
  compare: (left: NameToken, right: NameToken) => number,
): number => {
  const usedLeft = new Set<number>();
  const usedRight = new Set<number>();
  let agreed = 0;
  let matchedLeft = 0;
  let matchedRight = 0;
  for (const pairing of findPairings(left, right, compare)) {
    const leftWeight = weighUnused(left, usedLeft, pairing.left, pairing.leftLength);
    const rightWeight = weighUnused(right, usedRight, pairing.right, pairing.rightLength);
    if (leftWeight === undefined || rightWeight === undefined) continue;
    for (let place = 0; place < pairing.leftLength; place += 1) usedLeft.add(pairing.left + place);
    for (let place = 0; place < pairing.rightLength; place += 1) usedRight.add(pairing.right + place);
    matchedLeft += leftWeight;
    matchedRight += rightWeight;
    agreed += ((leftWeight + rightWeight) / 2) * pairing.similarity;
  }
  const matched = (matchedLeft + matchedRight) / 2;
  return combineScore(matched, agreed, left.weight - matchedLeft, right.weight - matchedRight, kind);
};

// The estimate ignores how well words agree and the listed name's own initials, so it may be a little too low.
const ESTIMATE_SLACK = 0.04;

const createVocabulary = () => {
  const known = new Map<string, NameToken>();
  const postings = new Map<NameToken, number[]>();
  return {
    /** Uses one object for equal words. */
    intern: (token: NameToken, name: number): NameToken => {
      const key = toTermKey(token);
      const term = known.get(key) ?? token;
      if (term === token) known.set(key, term);
      addTo(postings, term, name);
      return term;
    },
    terms: () => [...known.values()],
    postings,
  };
};

type SimilarTo = (token: NameToken) => SimilarTerms;

const NONE: SimilarTerms = new Map();

/** Indexes listed names by their words; a search gives the best score of every entry from `minScore` on. */
export const createNameIndex = (listed: readonly { name: string; entry: number }[], kind: NameKind) => {
  const words = createVocabulary();
  const pairs = createVocabulary();
  const names = listed.map(({ name }, place): ScorableName => {
    const scorable = toScorableName(name, kind);
    const tokens = scorable.tokens.map((token) => words.intern(token, place));
    return { ...scorable, tokens, joined: scorable.joined.map((token) => pairs.intern(token, place)) };
  });
  const termIndex = createTermIndex(words.terms(), pairs.terms());
  const covered = new Float32Array(names.length);
  const lastUnit = new Int32Array(names.length).fill(-1);

  const findAllSimilar = (query: ScorableName): SimilarTo => {
    const similar = new Map<NameToken, SimilarTerms>();
    for (const token of query.tokens) similar.set(token, termIndex.findSimilar(token));
    for (const token of query.joined) similar.set(token, termIndex.findSameSound(token));
    return (token) => similar.get(token) ?? NONE;
  };

  const cover = (similar: SimilarTerms, weight: number, unit: number, touched: number[]): void => {
    for (const term of similar.keys()) {
      for (const place of words.postings.get(term) ?? pairs.postings.get(term) ?? []) {
        if (lastUnit[place] === unit) continue;
        lastUnit[place] = unit;
        const before = covered[place] ?? 0;
        if (before === 0) touched.push(place);
        covered[place] = before + weight;
      }
    }
  };

  const findCandidates = (query: ScorableName, similarTo: SimilarTo, minScore: number): number[] => {
    const touched: number[] = [];
    let initials = 0;
    query.tokens.forEach((token, place) => {
      const weight = query.weights[place] ?? 0;
      if (token.text.length === 1) initials += weight;
      cover(similarTo(token), weight, place, touched);
    });
    query.joined.forEach((token, place) => {
      const weight = (query.weights[place] ?? 0) + (query.weights[place + 1] ?? 0);
      cover(similarTo(token), weight, query.tokens.length + place, touched);
    });
    const candidates: number[] = [];
    for (const place of touched) {
      const weight = names[place]?.weight ?? 0;
      const matched = Math.min((covered[place] ?? 0) + initials, query.weight, weight);
      covered[place] = 0;
      lastUnit[place] = -1;
      const estimate = combineScore(matched, matched, query.weight - matched, weight - matched, kind);
      if (estimate >= minScore - ESTIMATE_SLACK) candidates.push(place);
    }
    return candidates;
  };

  return (name: string, minScore: number): Map<number, number> => {
    const query = toScorableName(name, kind);
    const similarTo = findAllSimilar(query);
    const best = new Map<number, number>();
    for (const place of findCandidates(query, similarTo, minScore)) {
      const candidate = names[place];
      const entry = listed[place]?.entry;
      if (!candidate || entry === undefined) continue;
      const compare = (token: NameToken, other: NameToken): number =>
        similarTo(token).get(other) ?? initialSimilarity(token, other);
      const score = scoreNames(query, candidate, kind, compare);
      if (score >= minScore && score > (best.get(entry) ?? 0)) best.set(entry, score);
    }
    return best;
  };
};
