import { createBigramIndex } from './bigram-index.js';
import type { NameToken } from './fold-name.js';
import { MIN_TOKEN_SIMILARITY, tokenSimilarity } from './token-similarity.js';

/** The known words that may stand for a given one, each with its similarity. */
export type SimilarTerms = ReadonlyMap<NameToken, number>;

/** Finds the known words close to a given one without comparing it with all of them. */
export interface TermIndex {
  findSimilar(token: NameToken): SimilarTerms;
  /** Finds only the words that sound the same; right for words read as one, where near misses would be noise. */
  findSameSound(token: NameToken): SimilarTerms;
}

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

/** A key that tells words apart: those of vowelless scripts are compared by other rules. */
export const toTermKey = (token: NameToken): string => (token.isVowelless ? `*${token.text}` : token.text);

/** Indexes distinct words by letter pairs, sound and consonants, and pairs of words read as one by sound. */
export const createTermIndex = (words: readonly NameToken[], joined: readonly NameToken[]): TermIndex => {
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
    findSimilar: (token) => {
      const key = toTermKey(token);
      const known = cache.get(key);
      if (known) return known;
      const similar = find(token);
      if (cache.size >= CACHED_TOKENS) cache.clear();
      cache.set(key, similar);
      return similar;
    },
    findSameSound: (token) => keepSimilar(token, bySound.get(token.sound) ?? []),
  };
};
