import { type PrioritySubject, toPriority } from '../../changes/priority.js';

/** How a match became a hit in a run; a match that is listed for several customers has one for each way. */
export interface NewHit extends Omit<PrioritySubject, 'isHit'> {
  matchId: string;
  isSanctionHit: boolean;
  /** Of a first screening. */
  isBaseline: boolean;
}

/** The ids of matches in the order in which reviewers need them, each once: sanctions, then what is new tonight, then by priority. */
export function orderHits(hits: readonly NewHit[]): readonly string[] {
  const ranked = hits.map((hit) => ({ ...hit, priority: toPriority({ ...hit, isHit: true }) }));
  const ordered = ranked.toSorted(
    (one, other) =>
      Number(other.isSanctionHit) - Number(one.isSanctionHit) ||
      Number(one.isBaseline) - Number(other.isBaseline) ||
      other.priority - one.priority ||
      (one.matchId < other.matchId ? -1 : 1),
  );
  return [...new Set(ordered.map(({ matchId }) => matchId))];
}
