import { foldName, type NameToken, unifyLegalForm, WordIndex } from '../names/words.js';

const GENERIC = new Set(
  `the and of for de la et und y e group holding holdings international intl trading trade bank banco banque
  industries industry industrial services service general national enterprise enterprises import export commercial
  investment investments management shipping technology technologies engineering construction global solutions capital
  partners consulting foundation organization organisation association institute center centre`.split(/\s+/),
);

/** How distinctive a word is: 1 for a normal word, less for initials, particles and legal forms. */
const wordWeight = ({ text, isFiller }: NameToken, kind: 'person' | 'entity'): number => {
  if (kind === 'entity') {
    if (isFiller) return 0.1;
    if (GENERIC.has(text)) return text.length <= 3 ? 0.1 : 0.5;
    return text.length === 1 ? 0.4 : 1;
  }
  if (isFiller) return 0.2;
  return text.length === 1 ? 0.4 : text.length === 2 ? 0.8 : 1;
};

/** The Arabic article, which its script writes without its vowel, and one spelling of each legal form. */
const toComparable = (token: NameToken, kind: 'person' | 'entity'): NameToken => {
  if (token.isVowelless && token.text === 'l') return { ...token, text: 'al', isVowelless: false, isFiller: true };
  return kind === 'entity' ? { ...token, text: unifyLegalForm(token.text) } : token;
};

/** The words of a name with their weights, and the sum of these. */
interface WeighedWords {
  tokens: readonly NameToken[];
  weights: readonly number[];
  weight: number;
}

const weighWords = (name: string, kind: 'person' | 'entity'): WeighedWords => {
  const tokens = foldName(name).map((token) => toComparable(token, kind));
  const weights = tokens.map((token) => wordWeight(token, kind));
  return { tokens, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
};

const sumAt = (weights: readonly number[], places: readonly number[]): number =>
  places.reduce((sum, place) => sum + (weights[place] ?? 0), 0);

/** Words of both names that are the same word, by their places. */
interface WordPair {
  searched: readonly number[];
  listed: readonly number[];
  similarity: number;
}

/** Less similar words are different words, joined ones more so. */
const MIN_SIMILARITY = 0.82;
const MIN_JOINED_SIMILARITY = 0.93;
const INITIAL_SIMILARITY = 0.9;

const isInitialOf = (short: string, long: string): boolean =>
  short.length === 1 && long.length > 1 && long.startsWith(short);

/** The words of one name that are initials of words of the other. */
const pairInitials = (searched: readonly NameToken[], listed: readonly NameToken[]): WordPair[] =>
  searched.flatMap((ours, place) =>
    listed.flatMap((theirs, other) =>
      isInitialOf(ours.text, theirs.text) || isInitialOf(theirs.text, ours.text)
        ? [{ searched: [place], listed: [other], similarity: INITIAL_SIMILARITY }]
        : [],
    ),
  );

/** The cost of a word that both names have in different form, and of a word that only one has. */
const REPLACED_COST = 1.15;
const EXTRA_COST: Record<'person' | 'entity', number> = { person: 0.26, entity: 0.6 };
/** Below this matched weight, an extra word costs as much as another word: "Ali" is not "Ali Hassan". */
const MIN_MATCHED_WEIGHT = 1.6;

/** The score of names, each word of which is in one pair at most, the most similar ones first. */
const scorePairs = (
  pairs: readonly WordPair[],
  searched: WeighedWords,
  listed: WeighedWords,
  kind: 'person' | 'entity',
) => {
  const [usedSearched, usedListed] = [new Set<number>(), new Set<number>()];
  let [agreed, ours, theirs] = [0, 0, 0];
  for (const pair of pairs.toSorted((a, b) => b.similarity - a.similarity)) {
    if (pair.searched.some((place) => usedSearched.has(place))) continue;
    if (pair.listed.some((place) => usedListed.has(place))) continue;
    for (const place of pair.searched) usedSearched.add(place);
    for (const place of pair.listed) usedListed.add(place);
    const ownWeight = sumAt(searched.weights, pair.searched);
    const listedWeight = sumAt(listed.weights, pair.listed);
    ours += ownWeight;
    theirs += listedWeight;
    agreed += ((ownWeight + listedWeight) / 2) * pair.similarity;
  }
  const matched = (ours + theirs) / 2;
  if (matched === 0) return 0;
  const [leftOver, rightOver] = [searched.weight - ours, listed.weight - theirs];
  const extraCost = matched >= MIN_MATCHED_WEIGHT ? EXTRA_COST[kind] : 1;
  const missing = Math.min(leftOver, rightOver) * REPLACED_COST + Math.abs(leftOver - rightOver) * extraCost;
  return agreed / (matched + missing);
};

/** Names that share less than this part of the lighter one are not compared word by word. */
const MIN_SHARE = 0.5;

/** Indexes listed names by their words; a search gives the best score of every entry from `minScore` on. */
export const createNameIndex = (listed: readonly { name: string; entry: number }[], kind: 'person' | 'entity') => {
  const index = new WordIndex();
  /** The pieces of the listed names with each word, by the word's number. */
  const postings: { name: number; places: readonly number[] }[][] = [];
  const names = listed.map(({ name, entry }, at) => {
    const words = weighWords(name, kind);
    for (const { places, id } of index.addPieces(words.tokens)) {
      postings[id] ??= [];
      postings[id].push({ name: at, places });
    }
    return { ...words, entry };
  });

  /** The pairs of words of each listed name with the searched one. */
  const findPairs = (tokens: readonly NameToken[]): ReadonlyMap<number, WordPair[]> => {
    const found = new Map<number, WordPair[]>();
    for (const { places: searched, likeIds } of index.findPieces(tokens)) {
      for (const [id, similarity] of likeIds) {
        if (similarity < MIN_SIMILARITY) continue;
        for (const { name, places } of postings[id] ?? []) {
          const joined = Math.max(searched.length, places.length);
          if (joined > 1 && (similarity < MIN_JOINED_SIMILARITY || searched.length === places.length)) continue;
          const pairs = found.get(name);
          const pair = { searched, listed: places, similarity };
          if (pairs) pairs.push(pair);
          else found.set(name, [pair]);
        }
      }
    }
    return found;
  };

  return (name: string, minScore: number): Map<number, number> => {
    const searched = weighWords(name, kind);
    const best = new Map<number, number>();
    for (const [at, pairs] of findPairs(searched.tokens)) {
      const candidate = names[at];
      if (candidate === undefined) continue;
      const shared = pairs.reduce((sum, pair) => sum + sumAt(candidate.weights, pair.listed), 0);
      if (shared < MIN_SHARE * Math.min(searched.weight, candidate.weight)) continue;
      const all = [...pairs, ...pairInitials(searched.tokens, candidate.tokens)];
      const score = scorePairs(all, searched, candidate, kind);
      if (score >= minScore && score > (best.get(candidate.entry) ?? 0)) best.set(candidate.entry, score);
    }
    return best;
  };
};
