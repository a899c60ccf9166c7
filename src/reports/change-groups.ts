import { gatherBy } from '../gather-by.js';
import { type Severity, severities } from '../vocabulary.js';
import {
  type CountedCluster,
  type MatchChangeFacts,
  mapReads,
  type RunFacts,
  type SeverityCount,
  type TruncatedChanges,
  type TruncatedMatches,
} from './run-facts.js';
import { compareText } from './text.js';

/** Many changes of one severity with the same listed party or the same kind of change. */
type ChangeCluster = Omit<CountedCluster, 'of'> & {
  key: string;
  /** Its name in the files: `G1`. */
  name: string;
};

/** The fewest customers of a cluster, and the number of its example changes. */
export const clusterSize = { from: 20, examples: 3 } as const;

/**
 * The clusters of at least `clusterSize.from` customers among the changes of one severity: first by listed party and kind, then by kind and fields.
 * A sanction hit is in no cluster; a new hit only in a cluster of its listed party.
 */
export function findClusters(
  changes: readonly MatchChangeFacts[],
  severity: Severity,
): readonly Omit<ChangeCluster, 'name'>[] {
  const byParty = gather(changes, 'listed_party', severity);
  const byKind = gather(byParty.rest, 'kind_of_change', severity);
  return [...byParty.clusters, ...byKind.clusters];
}

/** The clusters of one severity with their names, the biggest first, numbered from `firstNumber`. */
export const nameClusters = (
  found: readonly Omit<ChangeCluster, 'name'>[],
  firstNumber: number,
): readonly ChangeCluster[] =>
  [...found]
    .sort(
      (left, right) =>
        right.customers - left.customers || compareText(left.key, right.key) || compareText(left.by, right.by),
    )
    .map((cluster, index) => ({ ...cluster, name: `G${firstNumber + index}` }));

/** Finds the cluster name of a change; undefined for a change without a cluster. */
export function findClusterOf(clusters: readonly ChangeCluster[]): (change: MatchChangeFacts) => string | undefined {
  const names = new Map(clusters.map(({ by, severity, key, name }) => [`${by} ${severity} ${key}`, name]));
  return (change) => {
    const find = (by: ChangeCluster['by']): string | undefined => {
      const key = toKey[by](change);
      return key === null ? undefined : names.get(`${by} ${change.severity} ${key}`);
    };
    return names.size === 0 ? undefined : (find('listed_party') ?? find('kind_of_change'));
  };
}

function gather(
  changes: readonly MatchChangeFacts[],
  by: ChangeCluster['by'],
  severity: Severity,
): { clusters: readonly Omit<ChangeCluster, 'name'>[]; rest: readonly MatchChangeFacts[] } {
  const clusters: Omit<ChangeCluster, 'name'>[] = [];
  const rest: MatchChangeFacts[] = [];
  for (const [key, members] of gatherBy(changes, toKey[by])) {
    const customers = new Set(members.map(({ party }) => party.reference)).size;
    if (key === null || customers < clusterSize.from) {
      rest.push(...members);
      continue;
    }
    const readExamples = async () => members.slice(0, clusterSize.examples);
    clusters.push({ by, severity, key, customers, changes: members.length, readExamples });
  }
  return { clusters, rest };
}

function toFoundCluster(counted: CountedCluster): Omit<ChangeCluster, 'name'> {
  const { by, severity, customers, changes, readExamples } = counted;
  const key = counted.by === 'listed_party' ? toPartyKey(counted.of) : toKindKey(counted.of);
  return { by, severity, key, customers, changes, readExamples };
}

type Likeness<By> = Extract<CountedCluster, { by: By }>['of'];

const toPartyKey = ({ kind, cause, id, name }: Likeness<'listed_party'>): string =>
  JSON.stringify([kind, cause, id, name]);

const toKindKey = ({ kind, cause, rule, fields, wasHit, isHit }: Likeness<'kind_of_change'>): string =>
  JSON.stringify([kind, cause, rule, fields, wasHit, isHit]);

const toKey: Readonly<Record<ChangeCluster['by'], (change: MatchChangeFacts) => string | null>> = {
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

/** The changes or matches of first screenings of one severity, by customer reference. */
export interface ChangeGroup extends SeverityCount {
  severity: Severity;
  /** All, or the first ones of a truncated list. */
  changes: readonly MatchChangeFacts[];
  /** Those of `changes` that are in no cluster. */
  single: readonly MatchChangeFacts[];
  /** The number of all that are in no cluster. */
  singleCount: number;
  /** The biggest first. */
  clusters: readonly ChangeCluster[];
}

/**
 * The changes and the matches of first screenings by severity, most severe first; only severities that occur. Each change gets the name of its
 * cluster, also the changes that a truncated list reads later.
 */
export function groupFacts({ changes: held, baselineChanges, cut }: RunFacts) {
  const { groups: changes, cut: cutChanges } = groupChanges(held, cut.changes);
  return { changes, baseline: groupBaseline(baselineChanges, cut.baseline), cut: { ...cut, changes: cutChanges } };
}

function groupChanges(
  held: readonly MatchChangeFacts[],
  cut: TruncatedChanges | null,
): { groups: readonly ChangeGroup[]; cut: TruncatedChanges | null } {
  const bySeverity = severities.map((severity) => ({ severity, members: chooseSeverity(held, severity) }));
  const found = cut?.clusters.map(toFoundCluster) ?? null;
  const clusters: ChangeCluster[] = [];
  for (const { severity, members } of bySeverity) {
    const own = found?.filter((cluster) => cluster.severity === severity) ?? findClusters(members, severity);
    clusters.push(...nameClusters(own, clusters.length + 1));
  }
  const findCluster = findClusterOf(clusters);
  const nameClusterOf = (change: MatchChangeFacts): MatchChangeFacts => ({ ...change, cluster: findCluster(change) });
  const groups = bySeverity.flatMap(({ severity, members }): ChangeGroup[] => {
    const named = members.map(nameClusterOf);
    const own = clusters.filter((cluster) => cluster.severity === severity);
    const grouped = own.reduce((sum, { changes }) => sum + changes, 0);
    const single = named.filter(({ cluster }) => cluster === undefined);
    return toGroup({ severity, changes: named, single, clusters: own }, grouped, cut);
  });
  return { groups, cut: cut && { ...cut, ...mapReads(cut, nameClusterOf) } };
}

/** Matches of first screenings have no clusters. */
const groupBaseline = (held: readonly MatchChangeFacts[], cut: TruncatedMatches | null): readonly ChangeGroup[] =>
  severities.flatMap((severity) => {
    const members = chooseSeverity(held, severity);
    return toGroup({ severity, changes: members, single: members, clusters: [] }, 0, cut);
  });

function countHeld(held: readonly MatchChangeFacts[], severity: Severity): SeverityCount {
  const members = held.filter((change) => change.severity === severity);
  const hits = members.filter(({ isSanctionHit }) => isSanctionHit);
  const currentHits = hits.filter(({ after }) => after?.isHit === true).length;
  return { count: members.length, sanctionHits: hits.length, currentHits };
}

function toGroup(
  group: Pick<ChangeGroup, 'severity' | 'changes' | 'single' | 'clusters'>,
  grouped: number,
  cut: TruncatedMatches | null,
): ChangeGroup[] {
  const counts = cut?.bySeverity[group.severity] ?? countHeld(group.changes, group.severity);
  return counts.count === 0 ? [] : [{ ...group, ...counts, singleCount: counts.count - grouped }];
}

function chooseSeverity(changes: readonly MatchChangeFacts[], severity: Severity): readonly MatchChangeFacts[] {
  return changes
    .filter((change) => change.severity === severity)
    .sort((a, b) => compareText(a.party.reference, b.party.reference) || a.changeId - b.changeId);
}
