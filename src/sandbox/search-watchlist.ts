import {
  combineScore,
  INITIAL_SIMILARITY,
  isInitialOf,
  MIN_TOKEN_SIMILARITY,
  type NameKind,
  type NameToken,
  type ScorableName,
  scoreNames,
  tokenSimilarity,
  toScorableName,
} from './names.js';
import type { SandboxWorld, WatchlistEntry } from './world.js';

/** Finds the places of words that share enough letter pairs with a given one. */
interface BigramIndex {
  findClose(text: string): number[];
}

const MIN_SHARED = 0.42;
const MIN_LENGTH_RATIO = 0.5;

const bigramsOf = (text: string): string[] => {
  const padded = `^${text}$`;
  return Array.from({ length: padded.length - 1 }, (_, index) => padded.slice(index, index + 2));
};

/** Indexes words by their letter pairs, the ends of a word counting as letters. */
const createBigramIndex = (words: readonly string[]): BigramIndex => {
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
    findClose: (text) => {
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

/** The known words that may stand for a given one, each with its similarity. */
type SimilarTerms = ReadonlyMap<NameToken, number>;

/** Finds the known words close to a given one without comparing it with all of them. */
interface TermIndex {
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
const toTermKey = (token: NameToken): string => (token.isVowelless ? `*${token.text}` : token.text);

/** Indexes distinct words by letter pairs, sound and consonants, and pairs of words read as one by sound. */
const createTermIndex = (words: readonly NameToken[], joined: readonly NameToken[]): TermIndex => {
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

/** A listed name and the place of the entry it belongs to. */
interface IndexedName {
  name: string;
  entry: number;
}

/** Answers which entries bear a name like the one asked for. */
interface NameIndex {
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
const createNameIndex = (listed: readonly IndexedName[], kind: NameKind): NameIndex => {
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

/** A name that scores at least this is listed in `results`. */
const LISTING_THRESHOLD = 0.75;
/** A name that scores at least this is flagged `match: true`. */
export const MATCH_THRESHOLD = 0.88;

/** One entry of `results` (interface: AML search result). */
export interface SearchResult {
  id: string;
  name: string;
  schema: string;
  match: boolean;
  score: number;
  topics: readonly string[];
  birth_date: readonly string[];
  country: readonly string[];
}

/** Searches one name; all results, best first. */
export type SearchWatchlist = (type: NameKind, name: string) => SearchResult[];

const NOT_SCREENED_AS_ENTITY = new Set(['Person', 'Vessel', 'Airplane']);

const round = (score: number): number => Math.round(score * 10_000) / 10_000;

/** A number from 0 to 1 that looks random and is always the same for the same text. */
const hashToUnit = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 0xffffffff;
};

const addNoise = (score: number, size: number, key: string): number =>
  size === 0 ? score : round(Math.min(1, Math.max(0, score + (hashToUnit(`noise ${key}`) * 2 - 1) * size)));

const createKindIndex = (watchlist: readonly WatchlistEntry[], kind: NameKind) => {
  const names = watchlist.flatMap((entry, place): IndexedName[] => {
    const isSearched = kind === 'person' ? entry.schema === 'Person' : !NOT_SCREENED_AS_ENTITY.has(entry.schema);
    return isSearched ? [...new Set([entry.name, ...entry.aliases])].map((name) => ({ name, entry: place })) : [];
  });
  return createNameIndex(names, kind);
};

/** Indexes a watchlist for searching; `ranking` disturbs order and scores, never who is listed or flagged. */
export const createSearch = (
  watchlist: readonly WatchlistEntry[],
  ranking: SandboxWorld['ranking'] = {},
): SearchWatchlist => {
  const indexes = { person: createKindIndex(watchlist, 'person'), entity: createKindIndex(watchlist, 'entity') };
  const seed = ranking.shuffleSeed;
  const noise = ranking.scoreNoise ?? 0;

  return (type, name) => {
    const found = [...indexes[type].search(name, LISTING_THRESHOLD)].flatMap(([place, score]) => {
      const entry = watchlist[place];
      if (!entry) return [];
      const key = `${seed ?? ''} ${name} ${entry.id}`;
      const clean = round(score);
      return [{ entry, match: clean >= MATCH_THRESHOLD, score: addNoise(clean, noise, key), tie: hashToUnit(key) }];
    });
    found.sort(
      (a, b) => b.score - a.score || (seed === undefined ? 0 : a.tie - b.tie) || (a.entry.id < b.entry.id ? -1 : 1),
    );
    return found.map(({ entry, match, score }) => ({
      id: entry.id,
      name: entry.name,
      schema: entry.schema,
      match,
      score,
      topics: entry.topics,
      birth_date: entry.birth_date,
      country: entry.country,
    }));
  };
};
