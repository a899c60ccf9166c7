import { varyName } from '../../src/runs/checks/sample.js';
import { createSearch, type SearchResult } from '../../src/sandbox/search-watchlist.js';
import type { SandboxWorld, WatchlistEntry } from '../../src/sandbox/world.js';

/** A list as it is in one night; `placeOf` says by id who of the published list an entry is, whatever its id and name are now. */
interface KnownList {
  world: SandboxWorld;
  placeOf: ReadonlyMap<string, number>;
}

/** One list in the nights that follow one another, and how many entries were meddled with. */
export interface ListVariant {
  title: string;
  nights: readonly KnownList[];
  meddled: number;
}

/** An entry under its place in the published list. */
type Placed = readonly [place: number, entry: WatchlistEntry];
type Change = (entry: WatchlistEntry) => WatchlistEntry;

/** A published list with a tenth of its entries removed, added, renamed, given a topic, given an id; with all in another order; removed and put back. */
export function makeListVariants(list: readonly WatchlistEntry[], random: () => number): readonly ListVariant[] {
  const all = [...list.entries()];
  const chooseTenth = (): ReadonlySet<number> => new Set(all.flatMap(([place]) => (random() < 0.1 ? place : [])));
  const [chosen, others] = [chooseTenth(), chooseTenth()];
  const without = all.filter(([place]) => !chosen.has(place));
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
    { title: 'removed', nights: [toList(all), toList(without)], meddled },
    { title: 'added', nights: [toList(without), toList(all)], meddled },
    {
      title: 'renamed',
      // To and fro, so that names come nearer to the customers' as well.
      nights: [toList(changed(others, rename)), toList(changed(chosen, rename))],
      meddled: new Set([...chosen, ...others]).size,
    },
    { title: 'given a topic', nights: [toList(all), toList(changed(chosen, addTopic))], meddled },
    { title: 'given a new id', nights: [toList(all), toList(changed(chosen, giveId))], meddled },
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
    { title: 'removed and put back', nights: [toList(all), toList(without), toList(all)], meddled },
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

/** A customer as the service is asked about it. */
export interface AskedCustomer {
  reference: string;
  type: 'person' | 'entity';
  name: string;
}

/** A change as it must be reported; `before` and `after` as the service gave the match. */
export interface ExpectedChange {
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
export function expectChanges(
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
