import type { Match } from '../matches/match.js';
import type { MatchDifference, MatchField, Severity } from './change-event.js';

/** A judgement: how much a difference matters and the rule of the table that says so. */
export interface SeverityVerdict {
  severity: Severity;
  rule: string;
}

interface Rule extends SeverityVerdict {
  applies: (difference: MatchDifference) => boolean;
}

const knownTopics = /^(sanction|debarment|role|crime|wanted|poi|reg|export|corp|fin|gov|asset|mil|invest)(\.|$)/;

const isSanction = (topic: string): boolean => topic === 'sanction' || topic.startsWith('sanction.');
const isCrime = (topic: string): boolean => topic === 'wanted' || topic === 'crime' || topic.startsWith('crime.');
const isPep = (topic: string): boolean => topic === 'role.pep';

/** Topics that the match has now and did not have before; all of them for a match that is new or has become a hit. */
function gainedTopics(difference: MatchDifference): readonly string[] {
  if (difference.after === null) return [];
  if (difference.before === null || difference.kind === 'hit_gained') return difference.after.topics;
  const before = new Set(difference.before.topics);
  return difference.after.topics.filter((topic) => !before.has(topic));
}

const gained = (difference: MatchDifference, is: (topic: string) => boolean): boolean =>
  gainedTopics(difference).some(is);
const hasField = (difference: MatchDifference, field: MatchField): boolean => {
  const fields: readonly MatchField[] = difference.fields;
  return fields.includes(field);
};
const isHitNow = (difference: MatchDifference): boolean => difference.after?.isHit === true;
const isGone = (difference: MatchDifference): boolean => difference.after === null;
const wasSerious = (match: Match | null): boolean => match !== null && (match.isHit || match.topics.some(isSanction));

/** The table, most severe first; the first rule that applies decides. */
const rules: readonly Rule[] = [
  { severity: 'critical', rule: 'sanction_hit_gained', applies: (d) => isHitNow(d) && gained(d, isSanction) },
  { severity: 'high', rule: 'crime_hit_gained', applies: (d) => isHitNow(d) && gained(d, isCrime) },
  { severity: 'high', rule: 'sanction_below_threshold', applies: (d) => gained(d, isSanction) },
  { severity: 'high', rule: 'unknown_topic', applies: (d) => gained(d, (topic) => !knownTopics.test(topic)) },
  {
    severity: 'high',
    rule: 'hit_without_topic',
    applies: (d) => isHitNow(d) && d.before === null && d.after?.topics.length === 0,
  },
  { severity: 'medium', rule: 'pep_hit_gained', applies: (d) => isHitNow(d) && gained(d, isPep) },
  { severity: 'medium', rule: 'crime_below_threshold', applies: (d) => gained(d, isCrime) },
  {
    severity: 'medium',
    rule: 'hit_gained',
    applies: (d) => d.kind === 'hit_gained' || (d.before === null && isHitNow(d)),
  },
  { severity: 'medium', rule: 'hit_lost', applies: (d) => d.kind === 'hit_lost' },
  {
    severity: 'medium',
    rule: 'not_returned',
    applies: (d) => d.kind === 'match_not_returned' && wasSerious(d.before),
  },
  { severity: 'medium', rule: 'delisted', applies: (d) => isGone(d) && wasSerious(d.before) },
  {
    severity: 'medium',
    rule: 'sanction_topic_lost',
    applies: (d) =>
      d.before !== null && d.after !== null && d.before.topics.some(isSanction) && !d.after.topics.some(isSanction),
  },
  {
    severity: 'medium',
    rule: 'hit_facts_changed',
    applies: (d) => isHitNow(d) && d.before !== null && (hasField(d, 'birth_date') || hasField(d, 'name')),
  },
  { severity: 'info', rule: 'rekeyed', applies: (d) => d.kind === 'match_rekeyed' && d.fields.length === 0 },
  { severity: 'low', rule: 'other_change', applies: () => true },
];

/** Judges a difference by the table above; deterministic, and never without a rule. */
export function toSeverity(difference: MatchDifference): SeverityVerdict {
  const rule = rules.find((candidate) => candidate.applies(difference));
  return rule ? { severity: rule.severity, rule: rule.rule } : { severity: 'high', rule: 'no_rule' };
}
