import {
  createTermIndex,
  foldName,
  initialSimilarity,
  joinTokens,
  MIN_TOKEN_SIMILARITY,
  type NameToken,
  type SimilarTerms,
  toTermKey,
} from './names.js';
import type { SandboxWorld, WatchlistEntry } from './world.js';

/** People and organisations have different common words. */
type NameKind = 'person' | 'entity';

const words = (list: string): readonly string[] => list.trim().split(/\s+/);

const PARTICLES = new Set(
  words(
    'al el ul ad as ash at an ar bin ben ibn bint de del della di da dos do du van von der den la le y e of the abu',
  ),
);
const TITLES = new Set(words('mr mrs ms dr prof sir haji hajji mullah maulavi mawlawi sheikh shaykh jr sr ii iii'));

const LEGAL_FORMS = new Map<string, string>(
  [
    'ltd limited ltda limitada',
    'llc ooo',
    'inc incorporated corp corporation co company',
    'sa sab ag ao oao pao zao jsc ojsc pjsc cjsc as asa ab oy oyj spa plc',
    'gmbh sarl srl sl bv nv kft doo',
    'lp llp kg cv',
  ].flatMap((group) => {
    const forms = words(group);
    return forms.map((form): [string, string] => [form, forms[0] ?? form]);
  }),
);

const GENERIC = new Set(
  words(`the and of for de la et und y e group holding holdings international intl trading trade bank banco banque
  industries industry industrial services service general national enterprise enterprises import export commercial
  investment investments management shipping technology technologies engineering construction global solutions capital
  partners consulting foundation organization organisation association institute center centre`),
);

/** Gives one spelling to a legal form ("Limited", "Ltda" and "Ltd"); other words stay. */
const unifyLegalForm = (text: string): string => LEGAL_FORMS.get(text) ?? text;

/** How distinctive a word is: 1 for a normal word, less for initials, particles and legal forms. */
const wordWeight = (text: string, kind: NameKind): number => {
  if (kind === 'entity') {
    if (LEGAL_FORMS.has(text)) return 0.1;
    if (GENERIC.has(text)) return text.length <= 3 ? 0.1 : 0.5;
    return text.length === 1 ? 0.4 : 1;
  }
  if (PARTICLES.has(text) || TITLES.has(text)) return 0.2;
  return text.length === 1 ? 0.4 : text.length === 2 ? 0.8 : 1;
};

/** A name prepared for comparison: its words with weights, and neighbouring words read as one. */
interface ScorableName {
  tokens: readonly NameToken[];
  /** `joined[i]` is word i and word i+1 read as one. */
  joined: readonly NameToken[];
  weights: readonly number[];
  weight: number;
}

type CompareTokens = (left: NameToken, right: NameToken) => number;

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

const toScorableName = (name: string, kind: NameKind): ScorableName => {
  const folded = foldName(name);
  const tokens = kind === 'entity' ? folded.map((token) => ({ ...token, text: unifyLegalForm(token.text) })) : folded;
  const joined = tokens.slice(1).flatMap((token, index) => {
    const before = tokens[index];
    return before ? [joinTokens(before, token)] : [];
  });
  const weights = tokens.map((token) => wordWeight(token.text, kind));
  return { tokens, joined, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
};

const findPairings = (left: ScorableName, right: ScorableName, compare: CompareTokens): Pairing[] => {
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

/** The similarity of two names, 0 to 1, in any word order. */
const scoreNames = (left: ScorableName, right: ScorableName, kind: NameKind, compare: CompareTokens): number => {
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
  similar.get(other) ?? initialSimilarity(token, other);

/** Indexes listed names by their words; a search scores only names that share enough of them. */
const createNameIndex = (listed: readonly { name: string; entry: number }[], kind: NameKind) => {
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
    /** The best score per entry, for every entry that reaches `minScore`. */
    search: (name: string, minScore: number): Map<number, number> => {
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

/** From this score on, a name is listed in `results`. */
const LISTING_THRESHOLD = 0.75;
/** From this score on, a result has `match: true`. */
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

/** Searches one name; gives all results, best first. */
export type SearchWatchlist = (type: NameKind, name: string) => SearchResult[];

const NOT_SCREENED_AS_ENTITY = new Set(['Person', 'Vessel', 'Airplane']);

const round = (score: number): number => Math.round(score * 10_000) / 10_000;

/** A pseudo-random number from 0 to 1, always the same for the same text. */
const hashToUnit = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 0xffffffff;
};

const addNoise = (score: number, size: number, key: string): number =>
  size === 0 ? score : round(Math.min(1, Math.max(0, score + (hashToUnit(`noise ${key}`) * 2 - 1) * size)));

const createKindIndex = (watchlist: readonly WatchlistEntry[], kind: NameKind) => {
  const names = watchlist.flatMap((entry, place) => {
    const isSearched = kind === 'person' ? entry.schema === 'Person' : !NOT_SCREENED_AS_ENTITY.has(entry.schema);
    return isSearched ? [...new Set([entry.name, ...entry.aliases])].map((name) => ({ name, entry: place })) : [];
  });
  return createNameIndex(names, kind);
};

/** Indexes a watchlist for searches; `ranking` changes order and scores, never which entries are listed or flagged. */
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
