import type { MatchSet } from '../matches/match.js';
import type { ChangeCause, MatchChange } from './change-event.js';
import { diffMatches, type ReportedScores } from './diff-matches.js';
import type { ChangeSettings } from './settings.js';
import { toSeverity } from './severity.js';

/** What shaped an answer, as fingerprints: what was asked, for which record, under which settings. */
export interface AnswerOrigin {
  requestId: number;
  customerVersion: number;
  settingsDigest: string;
}

/** The last valid answer for a party. */
export interface KnownAnswer {
  matchSet: MatchSet;
  reportedScores: ReportedScores;
  origin: AnswerOrigin;
}

/** The changes of one party and the scores from which drift is measured next time. */
export interface DetectedChanges {
  changes: readonly MatchChange[];
  reportedScores: ReportedScores;
}

const nothing: MatchSet = { total: 0, truncated: false, matches: [] };

/** Judges what a valid answer changes for a party; without a known answer everything in it is the baseline. */
export function detectChanges(
  known: KnownAnswer | null,
  current: MatchSet,
  origin: AnswerOrigin,
  settings: ChangeSettings,
): DetectedChanges {
  const before = known?.matchSet ?? nothing;
  const diff = diffMatches(before, current, known?.reportedScores ?? {}, settings.scoreStep);
  const cause = known ? toCause(known.origin, origin) : 'service_data';
  const changes = diff.differences.map((difference) => ({
    difference,
    ...toSeverity(difference),
    cause,
    isBaseline: known === null,
  }));
  return { changes, reportedScores: diff.reportedScores };
}

/** Whose doing a difference between two answers is: our settings before the customer's record before the service's data. */
function toCause(before: AnswerOrigin, after: AnswerOrigin): ChangeCause {
  if (before.settingsDigest !== after.settingsDigest) return 'settings';
  if (before.requestId !== after.requestId || before.customerVersion !== after.customerVersion)
    return 'customer_record';
  return 'service_data';
}
