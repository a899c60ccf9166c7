import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RosterSettings } from '../../src/roster/settings.js';
import type { SandboxDossier, WatchlistEntry } from '../../src/sandbox/world.js';

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

/** An approved dossier of customer C-`number`; a higher number was created later. */
export const buildSandboxDossier = (number: number, facts: Partial<SandboxDossier> = {}): SandboxDossier => ({
  id: `dossier_${String(number).padStart(24, '0')}`,
  token: `T${String(number).padStart(8, '0')}`,
  type: 'kyc',
  status: 'approved',
  name: `Person ${number}`,
  reference: `C-${number}`,
  risk_score: 10,
  is_test: true,
  download_status: 'not_downloaded',
  documents_count: 1,
  created_at: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
  updated_at: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
  completed_at: null,
  ...facts,
});

/** The one file that a roster is read from. */
export const fileOf = ({ csv }: RosterSettings): string => [csv?.path ?? []].flat()[0] ?? '';
