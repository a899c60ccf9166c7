import type { NameToken } from './fold-name.js';
import { combineScore, type ScorableName, scoreNames, toScorableName } from './name-score.js';
import { createTermIndex, type SimilarTerms, toTermKey } from './term-index.js';
import { INITIAL_SIMILARITY, isInitialOf } from './token-similarity.js';
import type { NameKind } from './word-weight.js';

/** A listed name and the place of the entry it belongs to. */
export interface IndexedName {
  name: string;
  entry: number;
}

/** Answers which entries bear a name like the one asked for. */
export interface NameIndex {
  /** The best score per entry, for every entry that reaches `minScore`. */
  search(name: string, minScore: number): Map<number, number>;
}

// The estimate ignores how well words agree and the listed name's own initials, so it may fall a little short.
const ESTIMATE_SLACK = 0.04;

interface Vocabulary {
  /** Shares one object among equal words. */
  intern<T extends NameToken>(token: T, name: number): NameToken;
  terms(): NameToken[];
  postings: Map<NameToken, number[]>;
}

const createVocabulary = (): Vocabulary => {
  const known = new Map<string, NameToken>();
  const postings = new Map<NameToken, number[]>();
  return {
    intern: (token, name) => {
      const key = toTermKey(token);
      const term = known.get(key) ?? token;
      if (term === token) known.set(key, term);
      const names = postings.get(term);
      if (names) names.push(name);
      else postings.set(term, [name]);
      return term;
    },
    terms: () => [...known.values()],
    postings,
  };
};

type SimilarTo = (token: NameToken) => SimilarTerms;

const NONE: SimilarTerms = new Map();

const lookUp = (similar: SimilarTerms, token: NameToken, other: NameToken): number =>
  similar.get(other) ??
  (isInitialOf(token.text, other.text) || isInitialOf(other.text, token.text) ? INITIAL_SIMILARITY : 0);

/** Indexes listed names by their words; a search scores only names that share enough of them. */
export const createNameIndex = (listed: readonly IndexedName[], kind: NameKind): NameIndex => {
  const words = createVocabulary();
  const pairs = createVocabulary();
  const names = listed.map(({ name }, place): ScorableName => {
    const scorable = toScorableName(name, kind);
    return {
      tokens: scorable.tokens.map((token) => words.intern(token, place)),
      joined: scorable.joined.map((token) => pairs.intern(token, place)),
      weights: scorable.weights,
      weight: scorable.weight,
    };
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

  return {
    search: (name, minScore) => {
      const query = toScorableName(name, kind);
      const similarTo = findAllSimilar(query);
      const best = new Map<number, number>();
      for (const place of findCandidates(query, similarTo, minScore)) {
        const candidate = names[place];
        const entry = listed[place]?.entry;
        if (!candidate || entry === undefined) continue;
        const score = scoreNames(query, candidate, kind, (token, other) => lookUp(similarTo(token), token, other));
        if (score >= minScore && score > (best.get(entry) ?? 0)) best.set(entry, score);
      }
      return best;
    },
  };
};
