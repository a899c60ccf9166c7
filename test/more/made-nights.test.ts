import { expect, it } from 'vitest';
import { assessVanished, VanishedTally } from '../../src/changes/assess-vanished.js';
import { topicFamiliesSchema } from '../../src/changes/severity.js';
import type { Match } from '../../src/matches/match.js';
import { toHoldBounds } from '../../src/screening/settings.js';
import { toMemberName } from '../campaign/site.js';
import { isFullSize, makeSeededRandom } from '../helpers/figures.js';
import { makeMatch } from '../helpers/run-facts.js';

const topicsOf = { ofac: ['sanction'], un: ['sanction'], pep: ['role.pep'], crime: ['crime'] } as const;
type List = keyof typeof topicsOf;
const lists: readonly List[] = ['ofac', 'un', 'pep', 'crime'];

interface Entry {
  list: List;
  /** Of the first list only. */
  programme: number;
  match: Match;
}

/** What the service answers on a good night, by the names of a roster. */
type Answers = ReadonlyMap<string, readonly Entry[]>;

const makeRandom = (seed: number): (() => number) => {
  const random = makeSeededRandom(seed);
  for (let warming = 0; warming < 4; warming += 1) random();
  return random;
};

/**
 * Answers for so many names, of which 6 % are hits: most for one or two entries, one of seven for four to nine, as common names are; one third
 * of those on the first list are on the second too. Three of ten of the other names have matches that are no hits.
 */
function makeAnswers(seed: number, customers: number): Answers {
  const random = makeRandom(seed * 6_151 + customers);
  const names = Array.from({ length: customers }, (_, number) => toMemberName(seed * 50_000 + number));
  return new Map(
    names.map((name) => [name, random() < 0.06 ? drawHits(name, random) : drawOthers(name, random)] as const),
  );
}

const toEntry = (id: string, list: List, programme: number, facts: Partial<Match>): Entry => ({
  list,
  programme,
  match: makeMatch({ id, topics: topicsOf[list], countries: ['fr'], ...facts }),
});

function drawHits(name: string, random: () => number): readonly Entry[] {
  const isCommon = random() < 1 / 7;
  const hits = isCommon ? 4 + Math.floor(random() * 6) : 1 + Math.floor(random() * 2);
  const entries = Array.from({ length: hits }, (_, number): Entry[] => {
    const drawn = random();
    const list = drawn < 0.5 ? 'ofac' : drawn < 0.6 ? 'un' : drawn < 0.88 ? 'pep' : 'crime';
    const programme = Math.floor(random() * 8);
    const year = 1940 + Math.floor(random() * 50);
    const own = toEntry(`${name} ${number}`, list, programme, { name, birthDates: [`${year}-05-06`] });
    if (list !== 'ofac' || random() > 1 / 3) return [own];
    return [own, toEntry(`${name} ${number} again`, 'un', programme, { name, birthDates: [`${year + 1}-05-06`] })];
  });
  return [...entries.flat(), ...drawOthers(name, random)];
}

function drawOthers(name: string, random: () => number): readonly Entry[] {
  const count = random() < 0.3 ? 1 + Math.floor(random() * 6) : 0;
  return Array.from({ length: count }, (_, number) => {
    const facts = { name: `${name} ${toMemberName(number)}`, isHit: false, score: 0.8 };
    const list = random() < 0.5 ? 'ofac' : 'pep';
    return toEntry(`${name} near ${number}`, list, Math.floor(random() * 8), facts);
  });
}

/** What a night makes of a good night's answer. Those that are taken off the lists are the same for each kind of night. */
type Night = (entries: readonly Entry[], seed: number, isDelisted: (entry: Entry) => boolean) => readonly Entry[];

const nights = {
  'a blind service': () => [],
  'one list lost': (entries, seed) => entries.filter(({ list }) => list !== lists[seed % lists.length]),
  'a silent cap at 1': (entries) => entries.slice(0, 1),
  'a silent cap at 5': (entries) => entries.slice(0, 5),
  'a programme dropped': (entries, seed) =>
    entries.filter(({ list, programme }) => list !== 'ofac' || programme !== seed % 8),
  'a real delisting of 3 %': (entries, _, isDelisted) => entries.filter((entry) => !isDelisted(entry)),
  'all ids new': (entries) =>
    entries.map((entry) => ({ ...entry, match: { ...entry.match, id: `${entry.match.id} new` } })),
} satisfies Record<string, Night>;

function isHeld(answers: Answers, night: Night, seed: number): boolean {
  const random = makeRandom(seed * 9_973 + 7);
  const delisted = new Set([...answers.values()].flat().filter(() => random() < 0.03));
  const tally = new VanishedTally(topicFamiliesSchema.parse({}));
  for (const entries of answers.values()) {
    const [before, after] = [entries, night(entries, seed, (entry) => delisted.has(entry))].map((all) =>
      all.map(({ match }, place) => ({ ...match, rank: place + 1 })),
    );
    tally.add({ before: before ?? [], after: after ?? [], isCompared: true });
  }
  return assessVanished(tally.figures(), {}, toHoldBounds()).length > 0;
}

const seeds = Array.from({ length: 20 }, (_, index) => index + 1);

// Of the last two kinds none is held; a dropped programme is small beside the list that it is of, and a cap beside few answers.
it.each<[keyof typeof nights, number, number]>([
  ['a blind service', 20, 20],
  ['one list lost', 20, 20],
  ['a silent cap at 1', 20, 20],
  ['a silent cap at 5', 14, 20],
  ['a programme dropped', 6, 5],
  ['a real delisting of 3 %', 0, 0],
  ['all ids new', 0, 0],
])('of 20 nights with %s, %i are held over 500 customers and %i over 2,000', (kind, heldOf500, heldOf2000) => {
  const count = (customers: number): number =>
    seeds.filter((seed) => isHeld(makeAnswers(seed, customers), nights[kind], seed)).length;
  expect(count(500)).toBe(heldOf500);
  if (isFullSize) expect(count(2_000)).toBe(heldOf2000);
});
