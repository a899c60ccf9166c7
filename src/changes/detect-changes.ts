import type { Match, MatchSet } from '../matches/match.js';
import type { Party, RiskTier } from '../roster/customer.js';
import type { ChangeCause } from './change-event.js';
import { corroborate } from './corroboration.js';
import { diffMatches, type KnownMatches, type MatchDiff } from './diff-matches.js';
import type { MatchChange } from './match-change.js';
import type { ChangeSettings } from './settings.js';
import { toSeverity } from './severity.js';
import { isOfFamily, type TopicFamilies } from './topic-families.js';

/** What shaped an answer, as fingerprints: what was asked, for which record, under which settings. */
export interface AnswerOrigin {
  requestId: number;
  customerVersion: number;
  settingsDigest: string;
  /** What the record says of the party, where it may have to be compared with another version. */
  said?: PartySaid | undefined;
}

/** The facts of a party that are no part of its request, and what stands in the source for those that are kept in another form or in doubt. */
export interface PartySaid extends ChangedParty {
  doubts: Readonly<Record<string, string>>;
  said: Readonly<Record<string, string>>;
}

/** What is known of a party from its valid answers so far. */
export interface KnownAnswer extends KnownMatches {
  origin: AnswerOrigin;
  /** Ids under which reviewers have confirmed that a match is the customer. */
  confirmedIds: ReadonlySet<string>;
}

/** What of a customer bears on how much a change matters. */
export interface ChangedParty extends Pick<Party, 'birthDate' | 'countries'> {
  riskTier: RiskTier | null;
}

/** An answer as it came for a party. */
export interface NewAnswer {
  matchSet: MatchSet;
  origin: AnswerOrigin;
  party: ChangedParty;
}

/** The changes of one party, and what the next comparison starts from. */
export interface DetectedChanges extends Omit<MatchDiff, 'differences'> {
  changes: readonly MatchChange[];
}

const nothing: KnownMatches = { matches: [], unreturned: [], removed: [], reportedScores: {} };

/** Judges what a valid answer changes for a party; without a known answer everything in it is the baseline. */
export function detectChanges(
  known: KnownAnswer | null,
  { matchSet, origin, party }: NewAnswer,
  settings: ChangeSettings,
): DetectedChanges {
  const { differences, ...next } = diffMatches(known ?? nothing, matchSet, settings.scoreStep);
  const cause = known ? toCause(known.origin, origin) : 'service_data';
  const changes = differences.map((difference): MatchChange => {
    const corroboration = corroborate(party, difference.after ?? difference.before);
    const isConfirmed = difference.before !== null && (known?.confirmedIds.has(difference.before.id) ?? false);
    const subject = { difference, corroboration, cause, isConfirmed, riskTier: party.riskTier };
    const isSanctionHit = [difference.before, difference.after].some((match) => isHitFor(match, settings.topics));
    const verdict = toSeverity(subject, settings);
    return { difference, corroboration, cause, isBaseline: known === null, isSanctionHit, ...verdict };
  });
  return { changes, ...next };
}

const isHitFor = (match: Match | null, families: TopicFamilies): boolean =>
  match?.isHit === true && match.topics.some((topic) => isOfFamily(families, 'sanction', topic));

/** Whose doing a difference between two answers is: our settings before the customer's record before the service's data. */
function toCause(before: AnswerOrigin, after: AnswerOrigin): ChangeCause {
  if (before.settingsDigest !== after.settingsDigest) return 'settings';
  if (before.requestId !== after.requestId) return 'customer_record';
  if (before.customerVersion === after.customerVersion) return 'service_data';
  return isReadDifferently(before.said, after.said) ? 'settings' : 'customer_record';
}

/** Whether two versions of a record differ, and the source says the same for each fact that does. */
function isReadDifferently(before: PartySaid | undefined, after: PartySaid | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const fields = ['birthDate', 'countries', 'riskTier'] as const;
  const changed = fields.filter((field) => toValue(before, field) !== toValue(after, field));
  return changed.length > 0 && changed.every((field) => isSaidAlike(before, after, field));
}

/** A record of an earlier version has only the value: its text is then the value itself, or reads as that value. */
function isSaidAlike(before: PartySaid, after: PartySaid, field: 'birthDate' | 'countries' | 'riskTier'): boolean {
  const [texts, others] = [before, after].map(
    (facts) => new Set([facts.doubts[field], facts.said[field], toValue(facts, field)].filter((text) => text)),
  );
  return [...(texts ?? [])].some((text) => others?.has(text));
}

const toValue = (facts: PartySaid, field: 'birthDate' | 'countries' | 'riskTier'): string =>
  field === 'countries' ? facts.countries.toSorted().join(';') : (facts[field] ?? '');
