import { createSeededRandom } from '../../src/sandbox/trouble.js';
import type { SandboxWorld, WatchlistEntry } from '../../src/sandbox/world.js';
import type { ModelAlert, PartyRecord, Reliance, RosterRow, Verdict } from './state-model.js';

type Random = ReturnType<typeof createSeededRandom>;

/**
 * How the run of a night goes: to its end, or it stops at a limit of searches, at the budget, in an outage, by a signal or by a kill; or its
 * control searches begin to fail.
 */
type Course = 'whole' | 'limit' | 'budget' | 'outage' | 'signal' | 'kill' | 'controls_fail';

/** One night as it happens outside the product. */
export interface WorldNight {
  course: Course;
  /** After which share of its customers it stops, or its control searches begin to fail. */
  stopsAt: number;
  /** Whether somebody resumes the run that has stopped; otherwise the next night abandons it. */
  isResumed: boolean;
  /** Whether a person accepts the answers where they are held. */
  isAccepted: boolean;
  reliance: Reliance;
  rows: ReadonlyMap<string, RosterRow>;
  watchlist: readonly WatchlistEntry[];
  /** Names whose searches fail all night, with the status that they get. */
  failing: ReadonlyMap<string, number>;
  ranking: NonNullable<SandboxWorld['ranking']>;
  /** The setting of that name: another than the night before means that settings were accepted. */
  scoreStep: number;
}

/** A random world; each customer has a history of its own, so that `only` some of them live through the same nights. */
export interface WorldSize {
  seed: number;
  customers: number;
  nights: number;
  only?: readonly number[];
  /** Whether there are nights that lose most of the lists, for a product that holds such nights. */
  losesLists?: boolean;
}

/** A listed party that one searched name may mean: how close its names are to the first and to the second name of the searched party. */
interface Listing {
  entry: WatchlistEntry;
  closeness: 'exact' | 'near' | 'weak';
  knowsBoth: boolean;
  isListed: boolean;
  wasHit: boolean;
}

/** A party of a customer with the names that it has in turn, and who is listed that may be it. */
interface Subject {
  record: PartyRecord;
  names: readonly [string, string];
  place: 0 | 1;
  listings: Listing[];
  /** Others of similar names, of whom nothing ever changes. */
  tooMany: readonly WatchlistEntry[];
  isNamed: boolean;
}

interface Life {
  id: string;
  random: Random;
  isEventful: boolean;
  joinsAt: number;
  presence: 'listed' | 'missing' | 'ended' | 'rejected';
  subjects: Subject[];
}

const chance = (random: Random, share: number): boolean => random() < share;

function pick<const T>(random: Random, values: readonly [T, ...T[]]): T {
  return values[Math.floor(random() * values.length)] ?? values[0];
}

function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash;
}

const consonants = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'] as const;
const vowels = ['a', 'e', 'i', 'o', 'u'] as const;

function makeWord(random: Random): string {
  const syllables = Array.from({ length: 5 }, () => pick(random, consonants) + pick(random, vowels)).join('');
  return syllables.charAt(0).toUpperCase() + syllables.slice(1);
}

const makeName = (random: Random): string => `${makeWord(random)} ${makeWord(random)}`;

const makeDate = (random: Random): string =>
  `${1940 + Math.floor(random() * 60)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 9)}`;

const country = (random: Random): string => pick(random, ['fr', 'de', 'dk', 'es', 'it', 'pl']);

const topicSets: readonly [string, ...string[]] = [
  'sanction',
  'role.pep',
  'crime',
  'sanction crime',
  'role.rca',
  'debarment',
];

/** How many words more than the customer's name a listed name has: the sandbox flags the first two and only lists the third. */
const extraWords = {
  person: { exact: '', near: ' Xx', weak: ' Xuxoxu Yayoya' },
  entity: { exact: '', near: '', weak: ' Xuxoxu' },
};

function makeListing(random: Random, type: PartyRecord['type']): Listing {
  const entry: WatchlistEntry = {
    id: `amla_${makeWord(random)}${makeWord(random)}`.toLowerCase(),
    schema: type === 'person' ? 'Person' : 'Company',
    name: makeName(random),
    aliases: [],
    topics: pick(random, topicSets).split(' '),
    birth_date: type === 'person' ? [makeDate(random)] : [],
    country: [country(random)],
  };
  const closeness = pick(random, ['exact', 'exact', 'near', 'weak']);
  return { entry, closeness, knowsBoth: chance(random, 0.5), isListed: true, wasHit: closeness !== 'weak' };
}

/** More people of a similar name than an answer lists. */
const makeMembers = (random: Random, type: PartyRecord['type'], name: string): WatchlistEntry[] =>
  Array.from({ length: 28 }, () => ({ ...makeListing(random, type).entry, aliases: [name + extraWords[type].weak] }));

function makeSubject(random: Random, key: string, role: string, namesOf: string): Subject {
  const type = chance(random, 0.8) ? 'person' : 'entity';
  const naming = createSeededRandom(seedOf(`names ${namesOf}`));
  const names: [string, string] = [makeName(naming), makeName(naming)];
  const birthDate = type === 'person' && chance(random, 0.7) ? makeDate(random) : null;
  const record = { key, role, type, name: names[0], birthDate, countries: [country(random)] } as const;
  const tooMany = chance(random, 0.02) ? makeMembers(random, type, names[0]) : [];
  return { record, names, place: 0, listings: [], tooMany, isNamed: true };
}

/** A customer to whom nothing happens, so that no roster is empty. */
const anchor = [
  'C-0',
  {
    parties: [{ key: 'self', role: 'customer', type: 'person', name: 'Zzyx Qwvu', birthDate: null, countries: ['dk'] }],
    hasEnded: false,
  },
] as const;

function makeLife({ seed }: WorldSize, number: number): Life {
  const random = createSeededRandom(seedOf(`life ${seed} ${number}`));
  // Every twelfth customer has the names of the one before.
  const namesake = number % 12 === 0 ? number - 1 : number;
  const subjects = [makeSubject(random, 'self', 'customer', `${seed} ${namesake}`)];
  if (chance(random, 0.1)) subjects.push(makeSubject(random, 'director', 'director', `${seed} ${number} director`));
  const isEventful = chance(random, 0.4);
  for (const { record, listings } of subjects) {
    if (chance(random, isEventful ? 0.6 : 0.1)) listings.push(makeListing(random, record.type));
    if (chance(random, isEventful ? 0.15 : 0)) listings.push(makeListing(random, record.type));
  }
  const joinsAt = chance(random, 0.08) ? Math.floor(random() * 8) : 0;
  return { id: `C-${number}`, random, isEventful, joinsAt, presence: 'listed', subjects };
}

type Event = (subject: Subject, random: Random) => void;

const changeEntry =
  (change: (entry: WatchlistEntry, random: Random) => Partial<WatchlistEntry>): Event =>
  ({ listings }, random) => {
    // What is listed too weakly to be an alert changes in nothing that could make it matter.
    const some = listings.filter(({ wasHit, isListed }) => wasHit && isListed);
    const [first, ...others] = some;
    if (!first) return;
    const listing = pick(random, [first, ...others]);
    listing.entry = { ...listing.entry, ...change(listing.entry, random) };
  };

/** One person on a second list. */
const listTwice: Event = ({ listings }, random) => {
  const [first] = listings;
  if (first?.wasHit && listings.length < 4)
    listings.push({ ...first, entry: { ...first.entry, ...newId(first.entry, random) } });
};

const newId = (_: WatchlistEntry, random: Random) => ({
  id: `amla_${makeWord(random)}${makeWord(random)}`.toLowerCase(),
});

const changeClosenessTo =
  (closeness: Listing['closeness']): Event =>
  ({ listings }, random) => {
    for (const listing of listings.filter(() => chance(random, 0.7))) {
      listing.closeness = closeness;
      if (closeness !== 'weak' && listing.isListed) listing.wasHit = true;
    }
  };

const changeRecord =
  (change: (subject: Subject, random: Random) => Partial<PartyRecord>): Event =>
  (subject, random) => {
    if (subject.record.role === 'customer') subject.record = { ...subject.record, ...change(subject, random) };
  };

const list = (listings: readonly Listing[], isListed: boolean): void => {
  for (const listing of listings) {
    listing.isListed = isListed;
    if (isListed && listing.closeness !== 'weak') listing.wasHit = true;
  }
};

/** What may happen to a party in a night, as often as it is named here. */
const events: readonly [Event, ...Event[]] = [
  ({ listings, record }, random) => void listings.push(makeListing(random, record.type)),
  listTwice,
  ({ listings }) => list(listings, false),
  ({ listings }) => list(listings.slice(0, 1), false),
  ({ listings }) => list(listings, true),
  ({ listings }) => list(listings, true),
  changeClosenessTo('weak'),
  changeClosenessTo('exact'),
  changeClosenessTo('near'),
  changeEntry(newId),
  changeEntry((_, random) => ({ birth_date: [makeDate(random)] })),
  changeEntry((_, random) => ({ topics: pick(random, topicSets).split(' ') })),
  changeEntry(({ country: countries }) => ({
    country: countries.length > 1 ? countries.slice(0, 1) : [...countries, 'us'],
  })),
  changeEntry((_, random) => ({ name: makeName(random) })),
  changeEntry((entry, random) => ({ ...newId(entry, random), birth_date: [makeDate(random)], name: makeName(random) })),
  changeRecord((_, random) => ({ birthDate: makeDate(random) })),
  changeRecord((_, random) => ({ countries: [country(random)] })),
  changeRecord((subject) => {
    subject.place = subject.place === 0 ? 1 : 0;
    return { name: subject.names[subject.place] };
  }),
  (subject, random) => {
    if (subject.record.role !== 'customer') subject.isNamed = chance(random, 0.3);
  },
];

function live(life: Life): { failing: [string, number][] } {
  const { random, subjects } = life;
  if (life.isEventful) {
    for (const subject of subjects) {
      if (chance(random, 0.3)) pick(random, events)(subject, random);
      if (chance(random, 0.05)) pick(random, events)(subject, random);
    }
  }
  const drawn = random();
  if (life.presence !== 'listed') {
    if (drawn < 0.25 || life.presence === 'rejected') life.presence = 'listed';
  } else if (drawn < 0.03) life.presence = 'missing';
  else if (drawn < 0.04) life.presence = 'ended';
  else if (drawn < 0.05) life.presence = 'rejected';
  const failing = subjects.flatMap(({ record }): [string, number][] =>
    chance(random, 0.04) ? [[record.name, pick(random, [422, 503])]] : [],
  );
  return { failing };
}

function toRow({ presence, subjects }: Life): RosterRow | null {
  if (presence === 'missing') return null;
  if (presence === 'rejected') return 'rejected';
  const parties = subjects.filter(({ isNamed }) => isNamed).map(({ record }) => record);
  return { parties, hasEnded: presence === 'ended' };
}

function toEntries({ subjects }: Life): WatchlistEntry[] {
  return subjects.flatMap(({ listings, names, record, tooMany }) => [
    ...tooMany,
    ...listings
      .filter(({ isListed }) => isListed)
      .map(({ entry, closeness, knowsBoth }) => {
        const extra = extraWords[record.type][closeness];
        return { ...entry, aliases: (knowsBoth ? names : names.slice(0, 1)).map((name) => name + extra) };
      }),
  ]);
}

/** Plays all nights of a world in advance. */
export function makeWorldNights(size: WorldSize): readonly WorldNight[] {
  const numbers = size.only ?? Array.from({ length: size.customers }, (_, index) => index + 1);
  const lives = numbers.map((number) => makeLife(size, number));
  const random = createSeededRandom(seedOf(`nights ${size.seed}`));
  let scoreStep = 0.02;
  return Array.from({ length: size.nights }, (_, night): WorldNight => {
    if (chance(random, 0.12)) scoreStep = scoreStep === 0.02 ? 0.03 : 0.02;
    const hasNoControl = night > 0 && chance(random, 0.15);
    const hasLostLists = night > 2 && chance(random, 0.15) && size.losesLists === true;
    const reliance = hasNoControl ? 'control_failed' : hasLostLists ? 'held' : 'relied_on';
    const courses = ['limit', 'budget', 'outage', 'signal', 'kill', 'controls_fail'] as const;
    const isStopped = reliance === 'relied_on' && chance(random, 0.5);
    const course = isStopped ? pick(random, courses) : 'whole';
    const failing = lives.flatMap((life) => live(life).failing);
    const rows = lives.flatMap((life): [string, RosterRow][] => {
      const row = life.joinsAt <= night ? toRow(life) : null;
      return row === null ? [] : [[life.id, row]];
    });
    const everybody = lives.flatMap(toEntries);
    const watchlist =
      reliance === 'held' ? everybody.filter(({ id }) => seedOf(`${night} ${id}`) % 5 === 0) : everybody;
    return {
      reliance,
      course,
      stopsAt: 0.1 + 0.8 * random(),
      isResumed: chance(random, 0.5),
      isAccepted: chance(random, 0.5),
      rows: new Map([anchor, ...rows]),
      watchlist,
      failing: new Map(failing),
      ranking: { shuffleSeed: night, scoreNoise: 0.008 },
      scoreStep,
    };
  });
}

/** What is decided about an alert; where that takes two people, whether the second has confirmed it. */
export interface Choice {
  verdict: Verdict;
  expires: boolean;
  hasSecond: boolean;
}

/** What reviewers decide about an alert at a moment, if anything. */
export function chooseDecision(seed: number, moment: string, alert: ModelAlert, takesTwo: boolean): Choice | null {
  const random = createSeededRandom(
    seedOf(`decision ${seed} ${moment} ${alert.customer} ${alert.party} ${alert.listed.id}`),
  );
  const expires = chance(random, 0.25);
  const isConfirmed = chance(random, 0.8);
  const choose = (...verdicts: [Verdict, ...Verdict[]]): Choice => {
    const verdict = pick(random, verdicts);
    // Whether one person is enough to say true match is left to the product: here it is always two.
    return { verdict, expires, hasSecond: takesTwo && (isConfirmed || !alert.waits || verdict === 'true_match') };
  };
  if (alert.isClosed) return null;
  if (alert.waits) {
    if (chance(random, 0.6)) return null;
    if (alert.absences.length > 0) return choose('no_longer_matched', 'no_longer_matched', 'inconclusive');
    return choose('false_positive', 'false_positive', 'true_match', 'inconclusive');
  }
  if (chance(random, 0.95)) return null;
  return choose(alert.decided === 'true_match' ? 'false_positive' : 'true_match', 'undo');
}
