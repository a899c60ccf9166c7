import { type Alert, projectAlerts, type SeenCustomer } from '../matches/alert.js';
import type { Match, MatchSet } from '../matches/match.js';
import {
  type AnswerOrigin,
  type ChangedParty,
  detectChanges,
  isSameAnswer,
  type KnownMatches,
  type MatchChange,
} from './match-changes.js';
import type { ChangeSettings } from './severity.js';

/** A stored answer for a party, with the facts known at its time. */
export interface StoredAnswer extends AnswerOrigin {
  responseId: number;
  /** As it was assessed: truncated when lists were known to be truncated. */
  matchSet: MatchSet;
  party: ChangedParty;
  customer: SeenCustomer;
  /** The match ids of true matches at that time. */
  trueMatchIds: ReadonlySet<string>;
  /** The match ids with a disposition since the answer before. */
  decidedIds: ReadonlySet<string>;
}

interface Known extends Omit<KnownMatches, 'removed'> {
  responseId: number;
  origin: AnswerOrigin;
  removed: ReadonlyMap<string, Match>;
}

/**
 * Assesses all stored answers of one party in order, as runs do, under these settings; each is compared with the result for the ones
 * before. Returns the changes of each answer, and the matches that become alerts because of it.
 */
export function replayAnswers(answers: readonly StoredAnswer[], settings: ChangeSettings) {
  let known: Known | null = null;
  let alerts: readonly Alert[] = [];
  const replayed: { changes: readonly MatchChange[]; opened: readonly Match[] }[] = [];
  for (const answer of answers) {
    const result = assessNext(noteDecided(known, alerts, answer.decidedIds), answer, settings);
    const projected = result.changes.length === 0 ? { alerts, opened: [] } : project(alerts, answer, result);
    ({ alerts } = projected);
    known = result.known;
    replayed.push({ changes: result.changes, opened: projected.opened });
  }
  return replayed;
}

function assessNext(
  known: Known | null,
  answer: StoredAnswer,
  settings: ChangeSettings,
): { known: Known; changes: readonly MatchChange[] } {
  const { responseId, matchSet, party, trueMatchIds, requestId, customerVersion, settingsDigest, said } = answer;
  const origin = { requestId, customerVersion, settingsDigest, said };
  if (known && isSameAnswer(known, { responseId, truncated: matchSet.truncated })) {
    return { known: { ...known, origin }, changes: [] };
  }
  const before = known && { ...known, removed: [...known.removed.values()], trueMatchIds };
  const { changes, reportedScores, unreturned } = detectChanges(before, { matchSet, origin, party }, settings);
  const removed = followRemovals(known?.removed ?? new Map(), changes);
  return { known: { responseId, origin, matches: matchSet.matches, unreturned, removed, reportedScores }, changes };
}

/** The matches that were removed and did not return. */
function followRemovals(
  removed: ReadonlyMap<string, Match>,
  changes: readonly MatchChange[],
): ReadonlyMap<string, Match> {
  const left = new Map(removed);
  for (const { difference } of changes) {
    if (difference.before === null) continue;
    // An id can be used twice.
    const key = JSON.stringify([difference.before.id, difference.before.name]);
    if (difference.kind === 'match_removed') left.set(key, difference.before);
    if (difference.kind === 'match_returned') left.delete(key);
  }
  return left;
}

/** After a disposition, a score is compared with the one at the disposition. */
function noteDecided(known: Known | null, alerts: readonly Alert[], decidedIds: ReadonlySet<string>): Known | null {
  if (known === null || decidedIds.size === 0) return known;
  const decided = alerts.filter(({ listed }) => decidedIds.has(listed.id));
  const scores = Object.fromEntries(decided.map(({ listed }) => [listed.id, listed.score]));
  return { ...known, reportedScores: { ...known.reportedScores, ...scores } };
}

/** Updates the party's alerts after an answer: hits, and critical or high changes, become alerts. */
function project(
  alerts: readonly Alert[],
  { matchSet, customer }: StoredAnswer,
  { known, changes }: ReturnType<typeof assessNext>,
): { alerts: readonly Alert[]; opened: readonly Match[] } {
  const byMatch = new Map(changes.map((change) => [change.difference.matchId, change]));
  const needsReview = ({ id, isHit }: Match): boolean => {
    const { severity, difference } = byMatch.get(id) ?? {};
    return isHit || (difference?.kind !== 'hit_lost' && (severity === 'critical' || severity === 'high'));
  };
  const matches = [...matchSet.matches, ...known.unreturned];
  const causeOf = ({ listed }: Alert) => byMatch.get(listed.id)?.cause ?? 'service_data';
  const steps = projectAlerts({ customer, isCurrent: true, matches, alerts, needsReview, causeOf }, new Date(0));
  const byId = new Map(alerts.map((alert) => [alert.alertId, alert]));
  const opened: Match[] = [];
  for (const step of steps) {
    if (step.kind === 'opened') {
      opened.push(step.match);
      byId.set(byId.size, { alertId: byId.size, listed: step.match, state: 'open', absence: null, disposition: null });
    } else if (step.kind === 'absent' || step.kind === 'auto_closed') {
      byId.set(step.alert.alertId, { ...step.alert, absence: step.absence });
    } else {
      byId.set(step.alert.alertId, { ...step.alert, listed: step.match, absence: null, state: 'open' });
    }
  }
  return { alerts: [...byId.values()], opened };
}
