import type { WatchlistEntry } from './watchlist-entry.js';

/** Finds a listed party by the id under which searches give it; only ids of the form `amla_<token>` are looked up. */
export type FindListed = (id: string) => WatchlistEntry | undefined;

/** Prepares listed parties for look-up; the index is made when it is first asked for. */
export const createListedIndex = (watchlist: readonly WatchlistEntry[]): FindListed => {
  let index: Map<string, WatchlistEntry> | undefined;
  return (id) => {
    if (!id.startsWith('amla_')) return undefined;
    index ??= new Map(watchlist.map((entry) => [entry.id, entry]));
    return index.get(id);
  };
};
