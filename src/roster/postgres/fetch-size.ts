import type { PostgresRow } from './postgres-value.js';

/** The most rows at once: waiting for the network counts for little then. */
const mostRows = 500;
/** How many times as many rows as the last time: a few narrow ones say little about the rest. */
const mostGrowth = 4;
/** About how many characters of rows are fetched at once; as many again are being checked meanwhile. */
const mostCharacters = 4 * 1_024 * 1_024;

/** How many rows are fetched first: few, because nobody knows yet how wide they are. */
export const firstFetchSize = 10;

/** Says how many rows to fetch next, by the width of those fetched last: at least 1, at most 500 and four times as many, and about 4 million characters. */
export function sizeNextFetch(last: readonly PostgresRow[]): number {
  let characters = 0;
  for (const row of last) {
    for (const value of row) characters += value?.length ?? 0;
  }
  const fitting = Math.floor((mostCharacters * last.length) / Math.max(1, characters));
  return Math.min(mostRows, mostGrowth * last.length, Math.max(1, fitting));
}
