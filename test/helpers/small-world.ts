import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WatchlistEntry } from '../../src/sandbox/watchlist-entry.js';

/** Somebody who is on a list. */
export const listed = (id: string, name: string, topics: string[] = ['sanction']): WatchlistEntry => ({
  id: `amla_${id}`,
  schema: 'Person',
  name,
  aliases: [],
  topics,
  birth_date: ['1960-01-01'],
  country: ['fr'],
});
/** Two customers and the canary. */
export const watchlist = [
  listed('one', 'Wilhelmina Achterberg'),
  listed('two', 'Oktavian Prunescu'),
  listed('c', 'Canary Listed'),
];
/** Control searches that pass over `watchlist`. */
export const canaries = [
  { type: 'person', name: 'Canary Listed', expect: 'match' },
  { type: 'person', name: 'Zzyzx Qwfpg', expect: 'none' },
] as const;
/** Six customers, two of them listed. */
export const people = [
  'Wilhelmina Achterberg',
  'Oktavian Prunescu',
  'Tamsin Oyelaran',
  'Bertil Kvarnström',
  'Aroha Ngata',
  'Ciro Malvestuto',
];

/** A roster file's text: customers C-1, C-2 ... of these names. */
export const toCsv = (names: readonly string[]): string =>
  `customer_id,type,name\n${names.map((name, index) => `C-${index + 1},person,${name}\n`).join('')}`;

/** Writes a roster of these names to a new file; gives its path. */
export async function writeRoster(names: readonly string[]): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-roster-')), 'roster.csv');
  await writeFile(path, toCsv(names));
  return path;
}
