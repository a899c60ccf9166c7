import type { Match } from '../../src/matches/match.js';
import { makeSeededRandom } from '../helpers/figures.js';
import { toMemberName } from './site.js';

type List = 'ofac' | 'un' | 'pep' | 'crime';

interface Entry {
  list: List;
  /** Of the first list only. */
  programme: number;
  match: Match;
}

/** A roster's names and what the service answers for each of them. */
export interface UnreliableWorld {
  seed: number;
  names: readonly string[];
  answers: ReadonlyMap<string, readonly Entry[]>;
}

const topicsOf: Readonly<Record<List, readonly string[]>> = {
  ofac: ['sanction'],
  un: ['sanction'],
  pep: ['role.pep'],
  crime: ['crime'],
};

/**
 * A roster of so many names of which 6 % are hits: most for one or two entries, one of seven for four to nine, as common names are; one third
 * of those on the first list are on the second too. Three of ten of the other names have matches that are no hits.
 */
export function makeUnreliableWorld(seed: number, customers: number): UnreliableWorld {
  const random = makeSeededRandom(seed * 6_151 + customers);
  for (let warming = 0; warming < 4; warming += 1) random();
  const names = Array.from({ length: customers }, (_, number) => toMemberName(seed * 50_000 + number));
  const answers = new Map<string, readonly Entry[]>();
  for (const [number, name] of names.entries()) {
    // A few customers share their names.
    if (number > 0 && random() < 0.02) names[number] = names[Math.floor(random() * number)] ?? name;
    if (!answers.has(name)) answers.set(name, random() < 0.06 ? drawHits(name, random) : drawOthers(name, random));
  }
  return { seed, names, answers };
}

function drawHits(name: string, random: () => number): readonly Entry[] {
  const isCommon = random() < 1 / 7;
  const hits = isCommon ? 4 + Math.floor(random() * 6) : 1 + Math.floor(random() * 2);
  const entries = Array.from({ length: hits }, (_, number): Entry[] => {
    const drawn = random();
    const list = drawn < 0.5 ? 'ofac' : drawn < 0.6 ? 'un' : drawn < 0.88 ? 'pep' : 'crime';
    const programme = Math.floor(random() * 8);
    const year = 1940 + Math.floor(random() * 50);
    const own = toEntry(`${name} ${number}`, { name, list, programme, year, isHit: true });
    if (list !== 'ofac' || random() > 1 / 3) return [own];
    return [own, toEntry(`${name} ${number} again`, { name, list: 'un', programme, year: year + 1, isHit: true })];
  });
  return rank([...entries.flat(), ...drawOthers(name, random)]);
}

const drawOthers = (name: string, random: () => number): readonly Entry[] =>
  rank(
    Array.from({ length: random() < 0.3 ? 1 + Math.floor(random() * 6) : 0 }, (_, number) =>
      toEntry(`${name} near ${number}`, {
        name: `${name} ${toMemberName(number)}`,
        list: random() < 0.5 ? 'ofac' : 'pep',
        programme: Math.floor(random() * 8),
        year: 1950,
        isHit: false,
      }),
    ),
  );

function toEntry(
  id: string,
  { name, list, programme, year, isHit }: { name: string; list: List; programme: number; year: number; isHit: boolean },
): Entry {
  const match: Match = {
    ...{ rank: 1, id: `amla_${id.replaceAll(' ', '_')}`, name, schema: 'Person', isHit, score: isHit ? 0.97 : 0.8 },
    ...{ topics: topicsOf[list], birthDates: [`${year}-05-06`], countries: ['fr'] },
  };
  return { list, programme, match };
}

const rank = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry, place) => ({
    ...entry,
    match: { ...entry.match, rank: place + 1, score: entry.match.score - place * 0.002 },
  }));

/** What may happen to a night, and whether it is to be held. */
export const nights = {
  'blind service': { isHeld: true },
  'one list lost': { isHeld: true },
  'silent cap at 1': { isHeld: true },
  'silent cap at 5': { isHeld: true },
  'real delisting of 3 %': { isHeld: false },
  'programme dropped': { isHeld: true },
  'all ids new': { isHeld: false },
} as const;
export type Night = keyof typeof nights;

/** What the service answers in such a night. */
export function toNight({ seed, answers }: UnreliableWorld, night: Night): (name: string) => readonly Match[] {
  const random = makeSeededRandom(seed * 9_973 + 7);
  for (let warming = 0; warming < 4; warming += 1) random();
  const lists: readonly List[] = ['ofac', 'un', 'pep', 'crime'];
  const lost = lists[seed % lists.length];
  const programme = seed % 8;
  // Those that are taken off the lists are the same whoever asks.
  const ids = [...new Set([...answers.values()].flat().map(({ match }) => match.id))];
  const delisted = new Set(ids.filter(() => random() < 0.03));
  const change = (entries: readonly Entry[]): readonly Entry[] => {
    switch (night) {
      case 'blind service':
        return [];
      case 'one list lost':
        return entries.filter(({ list }) => list !== lost);
      case 'silent cap at 1':
        return entries.slice(0, 1);
      case 'silent cap at 5':
        return entries.slice(0, 5);
      case 'real delisting of 3 %':
        return entries.filter(({ match }) => !delisted.has(match.id));
      case 'programme dropped':
        return entries.filter((entry) => entry.list !== 'ofac' || entry.programme !== programme);
      case 'all ids new':
        return entries.map((entry) => ({ ...entry, match: { ...entry.match, id: `${entry.match.id}_new` } }));
    }
  };
  return (name) => rank(change(answers.get(name) ?? [])).map(({ match }) => match);
}

/** What the service answers on a good night. */
export const toGoodNight =
  ({ answers }: UnreliableWorld) =>
  (name: string): readonly Match[] =>
    (answers.get(name) ?? []).map(({ match }) => match);
