import type { Severity } from '../changes/change-event.js';
import { compareText } from './compare-text.js';
import type { MatchChangeFacts } from './run-facts.js';

/** Changes of one severity that are one event: one listed party, or one kind of change, that touched many customers. */
export interface Flood {
  /** What the files call it: `G1`. */
  name: string;
  by: 'listed_party' | 'kind_of_change';
  severity: Severity;
  customers: number;
  changes: readonly [MatchChangeFacts, ...MatchChangeFacts[]];
}

/** What stands one by one, and what is told in one line. */
export interface SplitChanges {
  single: readonly MatchChangeFacts[];
  floods: readonly Flood[];
}

/** From so many customers on a reader learns nothing more from one line each. */
export const floodFrom = 20;

/**
 * Parts what touched at least `floodFrom` customers in the same way from what stands alone: first by listed party and kind, then by kind and
 * fields. Hits of sanctions always stand alone, and so does a new hit unless it is the same listed party for all. `firstNumber` is the
 * number in the name of the first flood; the biggest comes first.
 */
export function splitFloods(
  changes: readonly MatchChangeFacts[],
  severity: Severity,
  firstNumber: number,
): SplitChanges {
  const byParty = gather(changes, 'listed_party', toPartyKey);
  const byKind = gather(byParty.rest, 'kind_of_change', toKindKey);
  const floods = [...byParty.groups, ...byKind.groups]
    .sort(
      (left, right) =>
        right.customers - left.customers || compareText(left.key, right.key) || compareText(left.by, right.by),
    )
    .map(({ by, customers, changes: members }, index): Flood => {
      return { name: `G${firstNumber + index}`, by, severity, customers, changes: members };
    });
  return { single: byKind.rest, floods };
}

interface Group extends Pick<Flood, 'by' | 'customers' | 'changes'> {
  key: string;
}

function gather(
  changes: readonly MatchChangeFacts[],
  by: Flood['by'],
  toKey: (change: MatchChangeFacts) => string | null,
): { groups: readonly Group[]; rest: readonly MatchChangeFacts[] } {
  const byKey = new Map<string, MatchChangeFacts[]>();
  for (const change of changes) {
    const key = toKey(change);
    if (key === null) continue;
    const members = byKey.get(key);
    if (members) members.push(change);
    else byKey.set(key, [change]);
  }
  const groups = [...byKey].flatMap(([key, [first, ...others]]): Group[] => {
    if (first === undefined) return [];
    const customers = new Set([first, ...others].map(({ party }) => party.reference)).size;
    return customers < floodFrom ? [] : [{ key, by, customers, changes: [first, ...others] }];
  });
  const grouped = new Set(groups.flatMap((group) => group.changes));
  return { groups, rest: changes.filter((change) => !grouped.has(change)) };
}

function toPartyKey(change: MatchChangeFacts): string | null {
  const match = change.after ?? change.before;
  if (change.isSanctionHit || match === null) return null;
  return JSON.stringify([change.kind, change.cause, match.id, match.name]);
}

function toKindKey(change: MatchChangeFacts): string | null {
  const isNew = change.before === null || change.kind === 'hit_gained' || change.kind === 'match_returned';
  if (change.isSanctionHit || (isNew && change.after?.isHit === true)) return null;
  const { kind, cause, rule, fields, before, after } = change;
  return JSON.stringify([kind, cause, rule, fields, before?.isHit, after?.isHit]);
}

/** The name of the flood that each change belongs to; a change that stands alone is not in it. */
export const nameFloods = (groups: readonly SplitChanges[]): ReadonlyMap<MatchChangeFacts, string> =>
  new Map(
    groups.flatMap(({ floods }) =>
      floods.flatMap(({ name, changes }) => changes.map((change) => [change, name] as const)),
    ),
  );
