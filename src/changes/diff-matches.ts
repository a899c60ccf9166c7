import type { Match, MatchSet } from '../matches/match.js';
import { pairMatches } from '../matches/pair-matches.js';
import type { MatchDifference, MatchField } from './change-event.js';

/** Scores as they were last reported, by match id; a match that is not in it was reported with the score of its last answer. */
export type ReportedScores = Readonly<Record<string, number>>;

/** What a party's matches were known to be: the last answer, and what earlier cut lists have hidden since. */
export interface KnownMatches {
  matches: readonly Match[];
  unreturned: readonly Match[];
  /** Matches that were removed earlier and have not come back. */
  removed: readonly Match[];
  reportedScores: ReportedScores;
}

/** What differs, and what the next comparison starts from. */
export interface MatchDiff {
  differences: readonly MatchDifference[];
  reportedScores: ReportedScores;
  /** Known matches that this answer or earlier ones were cut too short to show. */
  unreturned: readonly Match[];
}

/**
 * Compares what is known of one party with a new answer. Order, rank jitter and score noise below `scoreStep` (measured from the
 * score last reported) are no difference; a match missing from a cut list is `match_not_returned`, once, and `match_removed` only
 * when a whole list lacks it. A match that was removed earlier and is back is `match_returned`, compared with what it was.
 */
export function diffMatches(known: KnownMatches, after: MatchSet, scoreStep: number): MatchDiff {
  const { pairs, onlyBefore, onlyAfter } = pairMatches([...known.matches, ...known.unreturned], after.matches);
  const reportedScores: Record<string, number> = {};
  const differences: MatchDifference[] = [];

  for (const pair of pairs) {
    const before: Match = { ...pair.before, score: known.reportedScores[pair.before.id] ?? pair.before.score };
    const fields = findChangedFields(before, pair.after, scoreStep);
    if (fields.length > 0 || before.id !== pair.after.id) {
      differences.push({ kind: toKind(before, pair.after), matchId: pair.after.id, before, after: pair.after, fields });
    }
    // A new id alone reports no score, so drift goes on being measured from the old one.
    if (fields.length === 0 && before.score !== pair.after.score) reportedScores[pair.after.id] = before.score;
  }
  const alreadyHidden = new Set(known.unreturned);
  for (const match of onlyBefore) {
    if (after.truncated && alreadyHidden.has(match)) continue;
    const kind = after.truncated ? 'match_not_returned' : 'match_removed';
    differences.push({ kind, matchId: match.id, before: match, after: null, fields: [] });
  }
  const comeBack = pairMatches(known.removed, onlyAfter);
  for (const { before, after: match } of comeBack.pairs) {
    const fields = findChangedFields(before, match, scoreStep);
    differences.push({ kind: 'match_returned', matchId: match.id, before, after: match, fields });
  }
  for (const match of comeBack.onlyAfter) {
    differences.push({ kind: 'match_added', matchId: match.id, before: null, after: match, fields: [] });
  }
  return { differences, reportedScores, unreturned: after.truncated ? onlyBefore : [] };
}

function toKind(before: Match, after: Match): 'hit_gained' | 'hit_lost' | 'match_rekeyed' | 'match_changed' {
  if (before.isHit !== after.isHit) return after.isHit ? 'hit_gained' : 'hit_lost';
  return before.id === after.id ? 'match_changed' : 'match_rekeyed';
}

function findChangedFields(before: Match, after: Match, scoreStep: number): readonly MatchField[] {
  // Binary fractions: 0.92 - 0.90 is a hair below 0.02, and must still count as a step of 0.02.
  const scoreMoved = Math.abs(after.score - before.score) >= scoreStep - 1e-9;
  const changed: Record<MatchField, boolean> = {
    birth_date: !sameMembers(before.birthDates, after.birthDates),
    country: !sameMembers(before.countries, after.countries),
    match: before.isHit !== after.isHit,
    name: before.name !== after.name,
    schema: before.schema !== after.schema,
    score: scoreMoved,
    topics: !sameMembers(before.topics, after.topics),
  };
  const fields: readonly MatchField[] = ['birth_date', 'country', 'match', 'name', 'schema', 'score', 'topics'];
  return fields.filter((field) => changed[field]);
}

/** Whether two lists hold the same values, whatever their order and repetitions. */
function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  const known = new Set(left);
  const seen = new Set(right);
  return known.size === seen.size && [...seen].every((value) => known.has(value));
}
