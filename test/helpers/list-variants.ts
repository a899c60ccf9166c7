import { varyName } from '../../src/runs/checks/sample.js';
import type { Ranking, SandboxWorld, WatchlistEntry } from '../../src/sandbox/world.js';

/** A list as it is in one night; `placeOf` says by id who of the published list an entry is, whatever its id and name are now. */
export interface KnownList {
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

const toList = (placed: readonly Placed[], ranking: Ranking = {}): KnownList => ({
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
