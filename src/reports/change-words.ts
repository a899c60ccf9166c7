import type { ChangeCause, MatchChangeKind, MatchField, Severity } from '../changes/change-event.js';
import type { Agreement } from '../changes/compare-birth-dates.js';
import type { DossierChangeKind } from '../changes/dossier-change.js';
import type { SeverityAdjustment } from '../changes/severity.js';
import type { MatchChangeFacts } from './list-facts.js';

const kindWords: Readonly<Record<MatchChangeKind, string>> = {
  match_added: 'New match',
  match_changed: 'Details changed',
  match_removed: 'No longer matched',
  match_not_returned: 'No longer shown: the answer was cut short, it may still be listed',
  match_rekeyed: 'Same party under a new id',
  match_returned: 'Back again after it was removed',
  hit_gained: 'Now flagged as hit',
  hit_lost: 'No longer flagged as hit',
};

/** What happened to a match in words; who is listed or delisted is said only where the list itself changed. */
export function describeChange(change: Pick<MatchChangeFacts, 'kind' | 'cause' | 'before' | 'after'>): string {
  const byList = change.cause === 'service_data';
  if (isEscalation(change)) {
    return `Escalated to sanctions${change.after?.isHit && !change.before?.isHit ? ', now flagged as hit' : ''}`;
  }
  if (change.kind === 'match_added') {
    return `${byList ? 'Newly listed' : kindWords.match_added}${change.after?.isHit ? ', flagged as hit' : ''}`;
  }
  if (change.kind === 'match_removed') {
    return `${byList ? 'Delisted' : kindWords.match_removed}${change.before?.isHit ? ', was flagged as hit' : ''}`;
  }
  if (change.kind === 'match_returned') {
    return `${byList ? 'Listed again' : kindWords.match_returned}${change.after?.isHit ? ', flagged as hit' : ''}`;
  }
  return kindWords[change.kind];
}

/** The rule that judged a change, in words; the rule for matches that are absent says that the party was delisted only where the list changed. */
export function describeRule({ rule, kind, cause }: Pick<MatchChangeFacts, 'rule' | 'kind' | 'cause'>): string {
  const isDelisted = kind === 'match_removed' && cause === 'service_data';
  return rule === 'delisted' && !isDelisted ? 'no longer matched' : rule.replaceAll('_', ' ');
}

/** Whether a match that was known already is listed for a sanction now and was not before. */
function isEscalation({ before, after }: Pick<MatchChangeFacts, 'before' | 'after'>): boolean {
  if (before === null || after === null) return false;
  return after.topics.some(isSanction) && !before.topics.some(isSanction);
}

const isSanction = (topic: string): boolean => topic === 'sanction' || topic.startsWith('sanction.');

/** What happened to a dossier in words. */
export const dossierChangeWords: Readonly<Record<DossierChangeKind, string>> = {
  dossier_appeared: 'New dossier',
  dossier_status_changed: 'Status changed',
  dossier_changed: 'Details changed',
  dossier_touched: 'Touched, nothing visible changed',
  dossier_returned: 'Back again',
  dossier_gone: 'Gone',
};

/** Whose doing a change is, as the end of a sentence. */
export const causeWords: Readonly<Record<ChangeCause, string>> = {
  service_data: 'the list data changed',
  customer_record: 'our customer record changed',
  settings: 'our settings changed',
};

/** The name of a severity. */
export const severityWords: Readonly<Record<Severity, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'For information',
};

/** The name of a compared field. */
export const fieldWords: Readonly<Record<MatchField, string>> = {
  birth_date: 'born',
  country: 'countries',
  match: 'flagged as hit',
  name: 'name',
  schema: 'kind',
  score: 'score',
  topics: 'listed for',
};

/** Whether a fact of the customer bears a match out, in words. */
export const agreementWords: Readonly<Record<Agreement, string>> = {
  agree: 'agrees',
  contradict: 'contradicts',
  unknown: 'cannot be compared',
};

/** What moved a severity away from its rule's, in words. */
export const adjustmentWords: Readonly<Record<SeverityAdjustment, string>> = {
  birth_date_contradicts: 'lowered, the birth date contradicts',
  risk_tier: 'raised for the customer’s risk tier',
};
