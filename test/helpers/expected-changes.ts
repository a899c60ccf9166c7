import { createSearch, type SearchResult } from '../../src/sandbox/search-watchlist.js';
import type { KnownList } from './list-variants.js';

/** A customer as the service is asked about it. */
export interface AskedCustomer {
  reference: string;
  type: 'person' | 'entity';
  name: string;
}

/** A change as it must be told; `before` and `after` as the service gave the match. */
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
  const told = nights.map(({ world, placeOf }) => {
    const search = createSearch(world.watchlist, world.ranking);
    return customers.flatMap(({ reference, type, name }) => {
      const before = seen.get(reference) ?? nothing;
      const listed = new Map(search(type, name).map((result) => [placeOf.get(result.id) ?? Number.NaN, result]));
      seen.set(reference, { listed, gone: findGone(before, listed) });
      return compare(before, listed).map((change) => ({ reference, ...change }));
    });
  });
  return told.slice(1);
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
