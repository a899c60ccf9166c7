import type { Severity } from '../changes/change-event.js';
import { compareText } from './compare-text.js';
import type { MatchChangeFacts } from './list-facts.js';

/** Changes of one severity that are one event: one listed party, or one kind of change, that touched many customers. */
interface FoundFlood {
  by: 'listed_party' | 'kind_of_change';
  severity: Severity;
  /** What its changes have in common, as `toPartyKey` or `toKindKey` gives it. */
  key: string;
  customers: number;
  /** How many changes it has. */
  changes: number;
  /** The first of them, `floodExamples` at most. */
  readExamples: () => Promise<readonly MatchChangeFacts[]>;
}

/** The same with what the files call it: `G1`. */
export interface Flood extends FoundFlood {
  name: string;
}

/** From so many customers on a reader learns nothing more from one line each. */
export const floodFrom = 20;

/** How many of its customers a flood names. */
export const floodExamples = 3;

/**
 * What of these changes of one severity touched at least `floodFrom` customers in the same way: first by listed party and kind, then by kind
 * and fields. Hits of sanctions always stand alone, and so does a new hit unless it is the same listed party for all.
 */
export function findFloods(changes: readonly MatchChangeFacts[], severity: Severity): readonly FoundFlood[] {
  const byParty = gather(changes, 'listed_party', severity);
  const byKind = gather(byParty.rest, 'kind_of_change', severity);
  return [...byParty.floods, ...byKind.floods];
}

/** Floods of one severity with their names, the biggest first; `firstNumber` is in the name of the first. */
export const nameFloods = (found: readonly FoundFlood[], firstNumber: number): readonly Flood[] =>
  [...found]
    .sort(
      (left, right) =>
        right.customers - left.customers || compareText(left.key, right.key) || compareText(left.by, right.by),
    )
    .map((flood, index) => ({ ...flood, name: `G${firstNumber + index}` }));

/** Tells which flood a change belongs to; undefined for one that stands alone. */
export function findFloodOf(floods: readonly Flood[]): (change: MatchChangeFacts) => string | undefined {
  const names = new Map(floods.map(({ by, severity, key, name }) => [`${by} ${severity} ${key}`, name]));
  return (change) => {
    const find = (by: FoundFlood['by']): string | undefined => {
      const key = toKey[by](change);
      return key === null ? undefined : names.get(`${by} ${change.severity} ${key}`);
    };
    return names.size === 0 ? undefined : (find('listed_party') ?? find('kind_of_change'));
  };
}

function gather(
  changes: readonly MatchChangeFacts[],
  by: FoundFlood['by'],
  severity: Severity,
): { floods: readonly FoundFlood[]; rest: readonly MatchChangeFacts[] } {
  const byKey = new Map<string, MatchChangeFacts[]>();
  for (const change of changes) {
    const key = toKey[by](change);
    if (key === null) continue;
    const members = byKey.get(key);
    if (members) members.push(change);
    else byKey.set(key, [change]);
  }
  const floods = [...byKey].flatMap(([key, members]): FoundFlood[] => {
    const customers = new Set(members.map(({ party }) => party.reference)).size;
    if (customers < floodFrom) return [];
    const readExamples = async () => members.slice(0, floodExamples);
    return [{ by, severity, key, customers, changes: members.length, readExamples }];
  });
  const found = new Set(floods.map(({ key }) => key));
  return { floods, rest: changes.filter((change) => !found.has(toKey[by](change) ?? '')) };
}

/** A flood whose changes were counted where they are stored. */
export type CountedFlood = Omit<FoundFlood, 'by' | 'key'> &
  ({ by: 'listed_party'; of: PartyLikeness } | { by: 'kind_of_change'; of: KindLikeness });

/** The same with the key by which its changes are known. */
export function toFoundFlood(counted: CountedFlood): FoundFlood {
  const { by, severity, customers, changes, readExamples } = counted;
  const key = counted.by === 'listed_party' ? toPartyKey(counted.of) : toKindKey(counted.of);
  return { by, severity, key, customers, changes, readExamples };
}

/** What changes of one listed party have in common. */
type PartyLikeness = Pick<MatchChangeFacts, 'kind' | 'cause'> & { id: string; name: string };

/** What changes of one kind have in common; `wasHit` and `isHit` are null where there was no match. */
type KindLikeness = Pick<MatchChangeFacts, 'kind' | 'cause' | 'rule' | 'fields'> & {
  wasHit: boolean | null;
  isHit: boolean | null;
};

const toPartyKey = ({ kind, cause, id, name }: PartyLikeness): string => JSON.stringify([kind, cause, id, name]);

const toKindKey = ({ kind, cause, rule, fields, wasHit, isHit }: KindLikeness): string =>
  JSON.stringify([kind, cause, rule, fields, wasHit, isHit]);

const toKey: Readonly<Record<FoundFlood['by'], (change: MatchChangeFacts) => string | null>> = {
  listed_party: (change) => {
    const match = change.after ?? change.before;
    return change.isSanctionHit || match === null ? null : toPartyKey({ ...change, id: match.id, name: match.name });
  },
  kind_of_change: (change) => {
    const { kind, before, after } = change;
    const isNew = before === null || kind === 'hit_gained' || kind === 'match_returned';
    if (change.isSanctionHit || (isNew && after?.isHit === true)) return null;
    return toKindKey({ ...change, wasHit: before?.isHit ?? null, isHit: after?.isHit ?? null });
  },
};
