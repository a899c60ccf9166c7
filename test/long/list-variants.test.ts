import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Match } from '../../src/matches/match.js';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import { createSeededRandom, varyName } from '../../src/runs/checks/sample.js';
import { showRun } from '../../src/runs/run-reference.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { createSearch, type SearchResult } from '../../src/sandbox/search-watchlist.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { loadWorld, type SandboxWorld, type WatchlistEntry } from '../../src/sandbox/world.js';
import type { Database } from '../../src/store/database/database.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import { makeAppContext, neverHeld } from '../helpers/small-world.js';

const data = process.env['NIGHTSCREEN_TEST_DATA'] ?? '';
const dayMs = 24 * 60 * 60 * 1_000;
const listedCustomers = isFullSize ? 400 : 80;
const cleanCustomers = isFullSize ? 200 : 20;
const databases = testDatabases('postgres');

it('variants of the real OFAC list give exactly the changes that were made to it, and another order none', {
  timeout: 300_000,
}, async (context) => {
  context.skip(data === '', 'NIGHTSCREEN_TEST_DATA names no folder with the real lists');
  const { watchlist } = await loadWorld({ watchlists: [join(data, 'watchlists/ofac')] });
  const customers = await drawCustomers(watchlist, createSeededRandom('customers of the variants'));
  const variants = makeListVariants(watchlist, createSeededRandom('variants of the list'));
  const roster = toFileRoster('all', await writeCustomers(customers));
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] }, maxResults: 1_000 });
  const database = await databases.open();
  try {
    for (const [turn, variant] of variants.entries()) {
      const expected = expectChanges(customers, variant.nights);
      const found = await screenNights(database, sandbox, { ...roster, name: `variant-${turn}` }, variant, turn);
      expect(found.map(sortLines), variant.title).toEqual(expected.map((night) => sortLines(night.map(toLine))));
      const all = expected.flat();
      printFigure(
        `OFAC list, ${variant.meddled} of ${watchlist.length} entries ${variant.title}: ` +
          `${all.length} changes for ${customers.length} customers, all told and no other${describeKinds(all)}`,
      );
      expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(kindsOf[variant.title]));
    }
  } finally {
    await sandbox.close();
  }
});

const kindsOf: Readonly<Record<string, readonly string[]>> = {
  removed: ['match_removed'],
  added: ['match_added'],
  renamed: ['match_added', 'match_changed', 'match_removed', 'hit_gained', 'hit_lost'],
  'given a topic': ['match_changed'],
  'given a new id': ['match_rekeyed'],
  'put in another order': [],
  'removed and put back': ['match_removed', 'match_returned'],
};

/** Listed people and companies under their names, aliases and slips of either, and people who are on no list. */
async function drawCustomers(
  watchlist: readonly WatchlistEntry[],
  random: () => number,
): Promise<readonly AskedCustomer[]> {
  const searched = watchlist.filter(({ schema }) => schema !== 'Vessel' && schema !== 'Airplane');
  const listed = Array.from({ length: listedCustomers }, (_, turn) => {
    const { name = '', aliases = [], schema } = searched[Math.floor(random() * searched.length)] ?? {};
    const spelling = turn % 4 === 1 ? (aliases[0] ?? name) : name;
    const type: AskedCustomer['type'] = schema === 'Person' ? 'person' : 'entity';
    return { type, name: turn % 4 === 2 ? varyName(spelling, random).name : spelling };
  });
  const rows = z.array(z.object({ full_name: z.string() }));
  const people = rows.parse(parse(await readFile(join(data, 'rosters/negatives_us.csv'), 'utf8'), { columns: true }));
  const clean = people.slice(0, cleanCustomers).map(({ full_name: name }) => ({ type: 'person' as const, name }));
  return [...listed, ...clean].map((customer, place) => ({ reference: `C-${place + 1}`, ...customer }));
}

async function writeCustomers(customers: readonly AskedCustomer[]): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-roster-')), 'roster.csv');
  const rows = customers.map(({ reference, type, name }) => [reference, type, name]);
  await writeFile(path, stringify([['customer_id', 'type', 'name'], ...rows]));
  return path;
}

/** Screens everybody once a night; the changes that each night after the first has stored. */
async function screenNights(
  database: Database,
  sandbox: Sandbox,
  roster: RosterSettings,
  { nights }: ListVariant,
  turn: number,
): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  for (const [night, { world }] of nights.entries()) {
    sandbox.setWorld(world);
    const app = await makeAppContext(database, sandbox, {
      offsetMs: (turn * 10 + night) * dayMs,
      settings: { screening: neverHeld },
    });
    const { runId, ...summary } = await runScreening(
      app,
      { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false },
      new AbortController().signal,
    ).finally(() => app.client().close());
    const screened = listedCustomers + cleanCustomers;
    expect(summary).toMatchObject({ state: 'complete', counts: { screened, rejected: 0, failed: 0 } });
    const { changes } = await showRun(database, 'default', runId);
    expect(changes.filter(({ cause }) => cause !== 'service_data')).toEqual([]);
    const lines = changes.map(({ party: { reference }, kind, fields, before, after }) =>
      toLine({ reference, kind, fields, before: toResult(before), after: toResult(after) }),
    );
    if (night === 0) expect(lines).toEqual([]);
    else found.push(lines);
  }
  return found;
}

/** A match as the service gave it. */
const toResult = (match: Match | null): SearchResult | null =>
  match && {
    id: match.id,
    name: match.name,
    schema: match.schema,
    match: match.isHit,
    score: match.score,
    topics: match.topics,
    birth_date: match.birthDates,
    country: match.countries,
  };

const toLine = ({ reference, kind, fields, before, after }: ExpectedChange): string =>
  `${reference} ${kind} ${[...fields].sort().join('+')} ${JSON.stringify(before)} ${JSON.stringify(after)}`;

const sortLines = (lines: readonly string[]): readonly string[] => [...lines].sort();

function describeKinds(changes: readonly ExpectedChange[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).sort();
  return kinds.length > 0 ? ` (${kinds.join(', ')})` : '';
}

/** A list as it is in one night; `placeOf` says by id who of the published list an entry is, whatever its id and name are now. */
interface KnownList {
  world: SandboxWorld;
  placeOf: ReadonlyMap<string, number>;
}

/** One list in the nights that follow one another, and how many entries were meddled with. */
interface ListVariant {
  title: string;
  nights: readonly KnownList[];
  meddled: number;
}

/** An entry under its place in the published list. */
type Placed = readonly [place: number, entry: WatchlistEntry];
type Change = (entry: WatchlistEntry) => WatchlistEntry;

/** A published list with a tenth of its entries removed, added, renamed, given a topic, given an id; with all in another order; removed and put back. */
function makeListVariants(list: readonly WatchlistEntry[], random: () => number): readonly ListVariant[] {
  const all = [...list.entries()];
  const chooseTenth = (): ReadonlySet<number> => new Set(all.flatMap(([place]) => (random() < 0.1 ? place : [])));
  const [chosen, others] = [chooseTenth(), chooseTenth()];
  const [whole, without] = [toList(all), toList(all.filter(([place]) => !chosen.has(place)))];
  const changed = (places: ReadonlySet<number>, change: Change): readonly Placed[] =>
    all.map(([place, entry]) => [place, places.has(place) ? change(entry) : entry]);
  const rename: Change = (entry) => ({ ...entry, name: toNewName(entry.name, list, random) });
  const addTopic: Change = (entry) => ({ ...entry, topics: [...entry.topics, random() < 0.5 ? 'role.pep' : 'wanted'] });
  const giveId: Change = (entry) => ({ ...entry, id: `${entry.id}renumbered` });
  // An order can only change where there is more than one.
  const withTopics = all.map(
    ([place, entry]): Placed => [place, { ...entry, topics: [...entry.topics, 'poi', 'reg'] }],
  );
  const meddled = chosen.size;
  return [
    { title: 'removed', nights: [whole, without], meddled },
    { title: 'added', nights: [without, whole], meddled },
    {
      title: 'renamed',
      // To and fro, so that names come nearer to the customers' as well.
      nights: [toList(changed(others, rename)), toList(changed(chosen, rename))],
      meddled: new Set([...chosen, ...others]).size,
    },
    { title: 'given a topic', nights: [whole, toList(changed(chosen, addTopic))], meddled },
    { title: 'given a new id', nights: [whole, toList(changed(chosen, giveId))], meddled },
    {
      title: 'put in another order',
      nights: [
        toList(withTopics),
        toList(
          shuffle(withTopics, random).map(([place, entry]) => [place, reorder(entry, random)]),
          { shuffleSeed: 6 },
        ),
      ],
      meddled: all.length,
    },
    { title: 'removed and put back', nights: [whole, without, whole], meddled },
  ];
}

const toList = (placed: readonly Placed[], ranking: SandboxWorld['ranking'] = {}): KnownList => ({
  world: { watchlist: placed.map(([, entry]) => entry), dossiers: [], ranking },
  placeOf: new Map(placed.map(([place, { id }]) => [id, place])),
});

/** The name of somebody else, or the same as somebody else may have written it. */
function toNewName(name: string, list: readonly WatchlistEntry[], random: () => number): string {
  const turn = random();
  if (turn < 0.2) return list[Math.floor(random() * list.length)]?.name ?? name;
  if (turn < 0.3) return name.toLowerCase();
  return turn < 0.4 ? `${name} the Elder` : varyName(name, random).name;
}

const reorder = (entry: WatchlistEntry, random: () => number): WatchlistEntry => ({
  ...entry,
  aliases: shuffle(entry.aliases, random),
  topics: shuffle(entry.topics, random),
  birth_date: shuffle(entry.birth_date, random),
  country: shuffle(entry.country, random),
});

const shuffle = <Item>(items: readonly Item[], random: () => number): Item[] =>
  items
    .map((item) => ({ item, turn: random() }))
    .sort((one, other) => one.turn - other.turn)
    .map(({ item }) => item);

/** A customer as it is searched for. */
interface AskedCustomer {
  reference: string;
  type: 'person' | 'entity';
  name: string;
}

/** A change as it must be reported; `before` and `after` as the service gave the match. */
interface ExpectedChange {
  reference: string;
  kind: string;
  fields: readonly string[];
  before: SearchResult | null;
  after: SearchResult | null;
}

/** What a customer's answers have shown so far, by place in the published list. */
interface Seen {
  listed: ReadonlyMap<number, SearchResult>;
  gone: ReadonlyMap<number, SearchResult>;
}

const nothing: Seen = { listed: new Map(), gone: new Map() };

/**
 * The changes of each night after the first, worked out from the lists alone: who is who is known, not guessed from ids or contents, and what
 * an answer shows is asked of the sandbox's own search.
 */
function expectChanges(
  customers: readonly AskedCustomer[],
  nights: readonly KnownList[],
): readonly (readonly ExpectedChange[])[] {
  const seen = new Map<string, Seen>();
  const reported = nights.map(({ world, placeOf }) => {
    const search = createSearch(world.watchlist, world.ranking);
    return customers.flatMap(({ reference, type, name }) => {
      const before = seen.get(reference) ?? nothing;
      const listed = new Map(search(type, name).map((result) => [placeOf.get(result.id) ?? Number.NaN, result]));
      seen.set(reference, { listed, gone: findGone(before, listed) });
      return compare(before, listed).map((change) => ({ reference, ...change }));
    });
  });
  return reported.slice(1);
}

const findGone = (before: Seen, listed: Seen['listed']): Seen['gone'] =>
  new Map([...before.gone, ...before.listed].filter(([place]) => !listed.has(place)));

function compare({ listed: before, gone }: Seen, listed: Seen['listed']): readonly Omit<ExpectedChange, 'reference'>[] {
  const removed = [...before].flatMap(([place, result]) =>
    listed.has(place) ? [] : [{ kind: 'match_removed', fields: [], before: result, after: null }],
  );
  const shown = [...listed].flatMap(([place, after]) => {
    const known = before.get(place);
    if (known) return compareSame(known, after);
    const earlier = gone.get(place);
    return earlier
      ? [{ kind: 'match_returned', fields: findFields(earlier, after), before: earlier, after }]
      : [{ kind: 'match_added', fields: [], before: null, after }];
  });
  return [...removed, ...shown];
}

function compareSame(before: SearchResult, after: SearchResult): readonly Omit<ExpectedChange, 'reference'>[] {
  const fields = findFields(before, after);
  if (fields.length === 0 && before.id === after.id) return [];
  const sameFlag = before.id === after.id ? 'match_changed' : 'match_rekeyed';
  const otherFlag = after.match ? 'hit_gained' : 'hit_lost';
  return [{ kind: before.match === after.match ? sameFlag : otherFlag, fields, before, after }];
}

/** Two hundredths, in the ten-thousandths to which the sandbox rounds its scores. */
const scoreStep = 200;

function findFields(before: SearchResult, after: SearchResult): readonly string[] {
  const differs = {
    birth_date: !isSameSet(before.birth_date, after.birth_date),
    country: !isSameSet(before.country, after.country),
    match: before.match !== after.match,
    name: before.name !== after.name,
    schema: before.schema !== after.schema,
    score: Math.abs(Math.round(before.score * 10_000) - Math.round(after.score * 10_000)) >= scoreStep,
    topics: !isSameSet(before.topics, after.topics),
  };
  return Object.entries(differs).flatMap(([field, isOther]) => (isOther ? field : []));
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  [...new Set(one)].sort().join('\n') === [...new Set(other)].sort().join('\n');
