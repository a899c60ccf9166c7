import { type MatchChangeKind, matchChangeKinds, type Severity, severities } from '../../changes/change-event.js';
import type { MatchChange } from '../../changes/match-change.js';
import { gatherBy } from './gather-by.js';

/** How many there are under the present settings and under the others. */
export interface Both {
  present: number;
  other: number;
}

/** How events under two settings compare. */
export interface EventTally extends Both {
  /** Under the other settings only, and under the present ones only. */
  onlyOther: number;
  onlyPresent: number;
  otherSeverity: number;
  byKind: readonly (Both & { kind: MatchChangeKind })[];
  bySeverity: readonly (Both & { severity: Severity })[];
}

/** One event under two settings; null where there is none. */
export interface EventPair {
  present: MatchChange | null;
  other: MatchChange | null;
}

/** Pairs the changes that one answer shows under two settings: by the match that they are about, which may occur twice. */
export function pairEvents(present: readonly MatchChange[], other: readonly MatchChange[]): readonly EventPair[] {
  const waiting = gatherBy(other, toKey);
  const pairs = present.map(
    (change): EventPair => ({ present: change, other: waiting.get(toKey(change))?.shift() ?? null }),
  );
  return [...pairs, ...[...waiting.values()].flat().map((change): EventPair => ({ present: null, other: change }))];
}

const toKey = ({ difference }: MatchChange): string => JSON.stringify([difference.matchId, difference.after === null]);

/** Whether somebody would read something else. */
export const isOtherwise = ({ present, other }: EventPair): boolean => present?.severity !== other?.severity;

/** Counts pairs of events as they come; `read` gives the tally so far. */
export function openTally(): { add(pair: EventPair): void; read(): EventTally } {
  const sums = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0, otherSeverity: 0 };
  const kinds = new Map<MatchChangeKind, Both>();
  const bySeverity = new Map<Severity, Both>();
  const count = (side: keyof Both, change: MatchChange | null): void => {
    if (change === null) return;
    sums[side] += 1;
    addTo(kinds, change.difference.kind, side);
    addTo(bySeverity, change.severity, side);
  };
  return {
    add: (pair) => {
      count('present', pair.present);
      count('other', pair.other);
      if (pair.present === null) sums.onlyOther += 1;
      else if (pair.other === null) sums.onlyPresent += 1;
      else if (isOtherwise(pair)) sums.otherSeverity += 1;
    },
    read: () => ({
      ...sums,
      byKind: matchChangeKinds.flatMap((kind) => {
        const both = kinds.get(kind);
        return both ? [{ kind, ...both }] : [];
      }),
      bySeverity: severities.flatMap((severity) => {
        const both = bySeverity.get(severity);
        return both ? [{ severity, ...both }] : [];
      }),
    }),
  };
}

function addTo<Key>(counts: Map<Key, Both>, key: Key, side: keyof Both): void {
  const both = counts.get(key) ?? { present: 0, other: 0 };
  counts.set(key, { ...both, [side]: both[side] + 1 });
}
