import { type Severity, severities } from '../changes/change-event.js';
import { compareText } from './compare-text.js';
import type { CutChanges, CutMatches, SeverityCount } from './cut-list.js';
import type { MatchChangeFacts } from './list-facts.js';

import { type Flood, findFloodOf, findFloods, nameFloods, toFoundFlood } from './split-floods.js';

/** The changes of one severity, or its matches of first screenings, by customer reference. */
export interface ChangeGroup extends SeverityCount {
  severity: Severity;
  /** Those that are held: all, or the first of them where these are cut. */
  changes: readonly MatchChangeFacts[];
  /** Those that stand one by one, as far as they are held. */
  single: readonly MatchChangeFacts[];
  /** How many stand one by one, held or not. */
  singleCount: number;
  /** Those that are told in one line for many, the biggest first. */
  floods: readonly Flood[];
}

/** The changes by severity, each with the name of its flood; only severities that occur, most severe first. What is cut names floods as it is read. */
export function groupChanges(
  held: readonly MatchChangeFacts[],
  cut: CutChanges | null,
): { groups: readonly ChangeGroup[]; cut: CutChanges | null } {
  const bySeverity = severities.map((severity) => ({ severity, members: chooseSeverity(held, severity) }));
  const found = cut?.floods.map(toFoundFlood) ?? null;
  const floods: Flood[] = [];
  for (const { severity, members } of bySeverity) {
    const own = found?.filter((flood) => flood.severity === severity) ?? findFloods(members, severity);
    floods.push(...nameFloods(own, floods.length + 1));
  }
  const findFlood = findFloodOf(floods);
  const tell = (change: MatchChangeFacts): MatchChangeFacts => ({ ...change, flood: findFlood(change) });
  const groups = bySeverity.flatMap(({ severity, members }): ChangeGroup[] => {
    const told = members.map(tell);
    const own = floods.filter((flood) => flood.severity === severity);
    const grouped = own.reduce((sum, { changes }) => sum + changes, 0);
    const single = told.filter(({ flood }) => flood === undefined);
    return toGroup({ severity, changes: told, single, floods: own }, grouped, cut);
  });
  return { groups, cut: cut && { ...cut, ...mapReads(cut, tell) } };
}

/** The matches of first screenings by severity; nothing of a first screening is told in one line for many. */
export const groupBaseline = (held: readonly MatchChangeFacts[], cut: CutMatches | null): readonly ChangeGroup[] =>
  severities.flatMap((severity) => {
    const members = chooseSeverity(held, severity);
    return toGroup({ severity, changes: members, single: members, floods: [] }, 0, cut);
  });

/** What is cut, each line put through `map` as it is read. */
export function mapReads(
  cut: CutMatches,
  map: (change: MatchChangeFacts) => MatchChangeFacts,
): Pick<CutMatches, 'read' | 'readOf' | 'readSanctionHits'> {
  const mapBatches = async function* (batches: AsyncIterable<readonly MatchChangeFacts[]>) {
    for await (const batch of batches) yield batch.map(map);
  };
  return {
    read: () => mapBatches(cut.read()),
    readOf: (severity) => mapBatches(cut.readOf(severity)),
    readSanctionHits: (severity) => mapBatches(cut.readSanctionHits(severity)),
  };
}

/** How many there are of a severity among those that are held. */
export function countHeld(held: readonly MatchChangeFacts[], severity: Severity): SeverityCount {
  const members = held.filter((change) => change.severity === severity);
  const hits = members.filter(({ isSanctionHit }) => isSanctionHit);
  const standingHits = hits.filter(({ after }) => after?.isHit === true).length;
  return { count: members.length, sanctionHits: hits.length, standingHits };
}

function toGroup(
  group: Pick<ChangeGroup, 'severity' | 'changes' | 'single' | 'floods'>,
  grouped: number,
  cut: CutMatches | null,
): ChangeGroup[] {
  const counts = cut?.bySeverity[group.severity] ?? countHeld(group.changes, group.severity);
  return counts.count === 0 ? [] : [{ ...group, ...counts, singleCount: counts.count - grouped }];
}

function chooseSeverity(changes: readonly MatchChangeFacts[], severity: Severity): readonly MatchChangeFacts[] {
  return changes
    .filter((change) => change.severity === severity)
    .sort((a, b) => compareText(a.party.reference, b.party.reference) || a.changeId - b.changeId);
}
