import { type Match, type MatchSet, pairMatches } from '../matches/match.js';
import type { FactsOf, partySaidSchema } from '../vocabulary/facts.js';
import { type ChangeCause, type MatchField, matchFields } from '../vocabulary.js';
import type { MatchDifference } from './change-event.js';
import { type Corroboration, corroborate } from './corroboration.js';
import { type ChangeSettings, isOfFamily, type TopicFamilies, toSeverity } from './severity.js';

/** The known matches of a party: the last answer, and the matches that earlier truncated lists hide. */
export interface KnownMatches {
  matches: readonly Match[];
  unreturned: readonly Match[];
  /** Matches that were removed and did not return. */
  removed: readonly Match[];
  /** The last reported scores by match id; a missing match was reported with the score of its last answer. */
  reportedScores: Readonly<Record<string, number>>;
}

/**
 * Compares the known matches of a party with a new answer. Order, rank jitter and score changes below `scoreStep` (from the last reported
 * score) are no difference. A match missing from a truncated list is `match_not_returned`, once, and `match_removed` only when a complete
 * list lacks it. A removed match that is back is `match_returned`, compared with its former facts. Also returns the base of the next
 * comparison: `unreturned` are known matches that truncated lists hide.
 */
export function diffMatches(
  known: KnownMatches,
  after: MatchSet,
  scoreStep: number,
): { differences: readonly MatchDifference[] } & Pick<KnownMatches, 'reportedScores' | 'unreturned'> {
  const { pairs, onlyBefore, onlyAfter } = pairMatches([...known.matches, ...known.unreturned], after.matches);
  const reportedScores: Record<string, number> = {};
  const differences: MatchDifference[] = [];

  for (const pair of pairs) {
    const before: Match = { ...pair.before, score: known.reportedScores[pair.before.id] ?? pair.before.score };
    const fields = findChangedFields(before, pair.after, scoreStep);
    if (fields.length > 0 || before.id !== pair.after.id) {
      differences.push({ kind: toKind(before, pair.after), matchId: pair.after.id, before, after: pair.after, fields });
    }
    // A new id alone reports no score, so drift is still measured from the old score.
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
  // Binary fractions: 0.92 - 0.90 is slightly below 0.02 and must still count as a step of 0.02.
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
  return matchFields.filter((field) => changed[field]);
}

/** Whether two lists have the same values in any order. */
function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  const known = new Set(left);
  const seen = new Set(right);
  return known.size === seen.size && [...seen].every((value) => known.has(value));
}

/** What an answer depends on, as fingerprints: the request, the record, the settings. */
export interface AnswerOrigin {
  requestId: number;
  customerVersion: number;
  settingsDigest: string;
  /** The facts of the record, to compare with another version. */
  said?: PartySaid | undefined;
}

/** The facts of a party outside its request, with the source text of converted or doubtful ones. */
export type PartySaid = FactsOf<typeof partySaidSchema>;

/** The facts of a customer that affect the severity of a change. */
export type ChangedParty = Pick<PartySaid, 'birthDate' | 'countries' | 'riskTier'>;

const nothing: KnownMatches = { matches: [], unreturned: [], removed: [], reportedScores: {} };

/**
 * Assesses the changes of a valid answer for a party, and returns the base of the next comparison; without a known answer all matches are
 * the baseline. `trueMatchIds` are the match ids of true matches.
 */
export function detectChanges(
  known: (KnownMatches & { origin: AnswerOrigin; trueMatchIds: ReadonlySet<string> }) | null,
  { matchSet, origin, party }: { matchSet: MatchSet; origin: AnswerOrigin; party: ChangedParty },
  settings: ChangeSettings,
): { changes: readonly MatchChange[] } & Pick<KnownMatches, 'reportedScores' | 'unreturned'> {
  const { differences, ...next } = diffMatches(known ?? nothing, matchSet, settings.scoreStep);
  const cause = known ? toCause(known.origin, origin) : 'service_data';
  const changes = differences.map((difference): MatchChange => {
    const corroboration = corroborate(party, difference.after ?? difference.before);
    const isTrueMatch = difference.before !== null && (known?.trueMatchIds.has(difference.before.id) ?? false);
    const subject = { difference, corroboration, cause, isTrueMatch, riskTier: party.riskTier };
    const isSanctionHit = [difference.before, difference.after].some((match) => isHitFor(match, settings.topics));
    const verdict = toSeverity(subject, settings);
    return { difference, corroboration, cause, isBaseline: known === null, isSanctionHit, ...verdict };
  });
  return { changes, ...next };
}

const isHitFor = (match: Match | null, families: TopicFamilies): boolean =>
  match?.isHit === true && match.topics.some((topic) => isOfFamily(families, 'sanction', topic));

/** The cause of a difference: the settings before the customer's record before the service's data. */
function toCause(before: AnswerOrigin, after: AnswerOrigin): ChangeCause {
  if (before.settingsDigest !== after.settingsDigest) return 'settings';
  if (before.requestId !== after.requestId) return 'customer_record';
  if (before.customerVersion === after.customerVersion) return 'service_data';
  return isReadDifferently(before.said, after.said) ? 'settings' : 'customer_record';
}

/** Whether two versions of a record differ only in how the same source text is read. */
function isReadDifferently(before: PartySaid | undefined, after: PartySaid | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const changed = saidFields.filter((field) => toValue(before, field) !== toValue(after, field));
  return changed.length > 0 && changed.every((field) => isSaidAlike(before, after, field));
}

const saidFields = ['birthDate', 'countries', 'riskTier'] as const satisfies readonly (keyof ChangedParty)[];

/** A record may have only the value: its text is the value itself, or reads as that value. */
function isSaidAlike(before: PartySaid, after: PartySaid, field: keyof ChangedParty): boolean {
  const [texts, others] = [before, after].map(
    (facts) => new Set([facts.doubts[field], facts.said[field], toValue(facts, field)].filter((text) => text)),
  );
  return [...(texts ?? [])].some((text) => others?.has(text));
}

const toValue = (facts: PartySaid, field: keyof ChangedParty): string =>
  field === 'countries' ? facts.countries.toSorted().join(';') : (facts[field] ?? '');

/** An assessed difference; `isBaseline` for a first screening. */
export interface MatchChange extends ReturnType<typeof toSeverity> {
  difference: MatchDifference;
  corroboration: Corroboration;
  cause: ChangeCause;
  isBaseline: boolean;
  /** Whether the match is or was a hit for a sanction. */
  isSanctionHit: boolean;
}

/** Whether an answer is the known one and hides as much, so that it changes nothing. A list that now counts as complete shows removals. */
export const isSameAnswer = (
  known: { responseId: number; unreturned: readonly unknown[] } | null | undefined,
  answer: { responseId: number; truncated: boolean },
): boolean => known?.responseId === answer.responseId && (answer.truncated || known.unreturned.length === 0);
