import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxWorld } from '../../src/sandbox/world.js';
import { listed, toCsv } from '../helpers/small-world.js';
import { makeSeededRandom } from './seeded-random.js';

const consonants = 'bdfghjklmnprstvz';
const vowels = 'aeiou';

/** Two words of six letters drawn anew for each number, so that hardly any two of them are alike. */
export const toCrowdName = (number: number): string => {
  const random = makeSeededRandom(number * 7_919 + 13);
  for (let warming = 0; warming < 4; warming += 1) random();
  const draw = (letters: string): string => letters.charAt(Math.floor(random() * letters.length));
  const toWord = (): string => {
    const word = Array.from({ length: 3 }, () => `${draw(consonants)}${draw(vowels)}`).join('');
    return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  };
  return `${toWord()}n ${toWord()}k`;
};

/** Control searches that pass on both nights. */
export const campaignCanaries = [
  { type: 'person', name: 'Canary Listed', expect: 'match' },
  { type: 'person', name: 'Zzyzx Qwfpg', expect: 'none' },
] as const;

/** The service on the first night, where every twelfth is listed, or on the second, where others are and some entries have changed. */
export function makeCrowdWorld(customers: number, night: 1 | 2): SandboxWorld {
  const isListed = (number: number): boolean =>
    night === 1 ? number % 12 === 0 : number % 12 === 0 ? number % 36 !== 0 : number % 36 === 5;
  const watchlist = Array.from({ length: customers }, (_, number) => number)
    .filter(isListed)
    .map((number) => {
      const topics = night === 2 && number % 24 === 0 ? ['sanction', 'role.pep'] : ['sanction'];
      return listed(`crowd${number}`, toCrowdName(number), topics);
    });
  return { watchlist: [...watchlist, listed('canary', 'Canary Listed')], dossiers: [] };
}

/** Writes the roster of so many customers; gives its path. */
export async function writeCrowd(customers: number): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-crowd-')), 'crowd.csv');
  await writeFile(path, toCsv(Array.from({ length: customers }, (_, number) => toCrowdName(number))));
  return path;
}
