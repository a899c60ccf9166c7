import { createNameIndex } from './names.js';
import type { SandboxWorld, WatchlistEntry } from './world.js';

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
export type SearchWatchlist = (type: 'person' | 'entity', name: string) => SearchResult[];

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

const createKindSearch = (watchlist: readonly WatchlistEntry[], kind: 'person' | 'entity') => {
  const names = watchlist.flatMap((entry, place) => {
    const isSearched = kind === 'person' ? entry.schema === 'Person' : !NOT_SCREENED_AS_ENTITY.has(entry.schema);
    return isSearched ? [...new Set([entry.name, ...entry.aliases])].map((name) => ({ name, entry: place })) : [];
  });
  return createNameIndex(names, kind);
};

const createIndexes = (watchlist: readonly WatchlistEntry[]) => ({
  person: createKindSearch(watchlist, 'person'),
  entity: createKindSearch(watchlist, 'entity'),
});

// A real list takes a second to index, and worlds share theirs.
const indexed = new WeakMap<readonly WatchlistEntry[], ReturnType<typeof createIndexes>>();

/** Indexes a watchlist for searches; `ranking` changes order and scores, never which entries are listed or flagged. */
export const createSearch = (
  watchlist: readonly WatchlistEntry[],
  ranking: SandboxWorld['ranking'] = {},
): SearchWatchlist => {
  const searches = indexed.get(watchlist) ?? createIndexes(watchlist);
  indexed.set(watchlist, searches);
  const seed = ranking.shuffleSeed;
  const noise = ranking.scoreNoise ?? 0;

  return (type, name) => {
    const found = [...searches[type](name, LISTING_THRESHOLD)].flatMap(([place, score]) => {
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
