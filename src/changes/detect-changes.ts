import type { MatchSet } from '../matches/match.js';
import type { ChangeCause, MatchChange } from './change-event.js';
import { diffMatches, type KnownMatches, type MatchDiff } from './diff-matches.js';
import type { ChangeSettings } from './settings.js';
import { toSeverity } from './severity.js';

/** What shaped an answer, as fingerprints: what was asked, for which record, under which settings. */
export interface AnswerOrigin {
  requestId: number;
  customerVersion: number;
  settingsDigest: string;
}

/** What is known of a party from its valid answers so far. */
export interface KnownAnswer extends KnownMatches {
  origin: AnswerOrigin;
}

/** The changes of one party, and what the next comparison starts from. */
export interface DetectedChanges extends Omit<MatchDiff, 'differences'> {
  changes: readonly MatchChange[];
}

const nothing: KnownMatches = { matches: [], unreturned: [], reportedScores: {} };

/** Judges what a valid answer changes for a party; without a known answer everything in it is the baseline. */
export function detectChanges(
  known: KnownAnswer | null,
  current: MatchSet,
  origin: AnswerOrigin,
  settings: ChangeSettings,
): DetectedChanges {
  const { differences, ...next } = diffMatches(known ?? nothing, current, settings.scoreStep);
  const cause = known ? toCause(known.origin, origin) : 'service_data';
  const changes = differences.map((difference) => ({
    difference,
    ...toSeverity(difference),
    cause,
    isBaseline: known === null,
  }));
  return { changes, ...next };
}

/** Whose doing a difference between two answers is: our settings before the customer's record before the service's data. */
function toCause(before: AnswerOrigin, after: AnswerOrigin): ChangeCause {
  if (before.settingsDigest !== after.settingsDigest) return 'settings';
  if (before.requestId !== after.requestId || before.customerVersion !== after.customerVersion)
    return 'customer_record';
  return 'service_data';
}
