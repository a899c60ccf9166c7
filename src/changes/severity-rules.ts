import type { ChangeCause, MatchDifference, MatchField, Severity } from './change-event.js';
import type { Corroboration } from './corroboration.js';
import { isOfFamily, isUnknownTopic, type TopicFamilies, type TopicFamily } from './topic-families.js';

/** What a rule looks at. */
export interface JudgedDifference {
  difference: MatchDifference;
  corroboration: Corroboration;
  cause: ChangeCause;
  /** A reviewer has decided that the match is the customer. */
  isConfirmed: boolean;
  families: TopicFamilies;
}

interface SeverityRule {
  rule: string;
  severity: Severity;
  /** When it applies, for the documentation. */
  when: string;
  applies: (judged: JudgedDifference) => boolean;
}

/** The topics that the match has now and did not have before; all of them where it is new, back, or has become a hit. */
function findGainedTopics(difference: MatchDifference): readonly string[] {
  const { before, after, kind } = difference;
  if (after === null) return [];
  if (before === null || kind === 'hit_gained' || kind === 'match_returned') return after.topics;
  const known = new Set(before.topics);
  return after.topics.filter((topic) => !known.has(topic));
}

const gains = ({ difference, families }: JudgedDifference, family: TopicFamily): boolean =>
  findGainedTopics(difference).some((topic) => isOfFamily(families, family, topic));
const isHitNow = ({ difference }: JudgedDifference): boolean => difference.after?.isHit === true;
const isNew = ({ difference }: JudgedDifference): boolean =>
  difference.before === null || difference.kind === 'match_returned';
const hasField = ({ difference }: JudgedDifference, field: MatchField): boolean => {
  const fields: readonly MatchField[] = difference.fields;
  return fields.includes(field);
};
const wasSerious = ({ difference, families }: JudgedDifference): boolean => {
  const { before } = difference;
  return before !== null && (before.isHit || before.topics.some((topic) => isOfFamily(families, 'sanction', topic)));
};

/** The table, from the most severe rule to the least; the first that applies decides. */
export const severityRules = [
  {
    rule: 'sanction_hit_gained',
    severity: 'critical',
    when: 'a hit with a sanction topic that it did not have before, or was no hit with',
    applies: (judged) => isHitNow(judged) && gains(judged, 'sanction'),
  },
  {
    rule: 'hit_without_topic',
    severity: 'critical',
    when: 'a hit that does not say what for: it may be a sanction',
    applies: (judged) =>
      isHitNow(judged) &&
      (isNew(judged) || judged.difference.kind === 'hit_gained') &&
      judged.difference.after?.topics.length === 0,
  },
  {
    rule: 'confirmed_customer_changed',
    severity: 'high',
    when: 'the customer\u2019s facts changed, and with them a match that a reviewer has confirmed',
    applies: ({ isConfirmed, cause }) => isConfirmed && cause === 'customer_record',
  },
  {
    rule: 'crime_hit_gained',
    severity: 'high',
    when: 'a hit for crime, or of somebody wanted',
    applies: (judged) => isHitNow(judged) && gains(judged, 'crime'),
  },
  {
    rule: 'sanction_birth_date_agrees',
    severity: 'high',
    when: 'a sanction topic below the threshold, and the birth date agrees',
    applies: (judged) => gains(judged, 'sanction') && judged.corroboration.birthDate === 'agree',
  },
  {
    rule: 'unknown_topic',
    severity: 'high',
    when: 'a topic of no family that we know',
    applies: ({ difference, families }) =>
      findGainedTopics(difference).some((topic) => isUnknownTopic(families, topic)),
  },
  {
    rule: 'sanction_below_threshold',
    severity: 'medium',
    when: 'a sanction topic below the threshold',
    applies: (judged) => gains(judged, 'sanction'),
  },
  {
    rule: 'pep_hit_gained',
    severity: 'medium',
    when: 'a hit of a politically exposed person',
    applies: (judged) => isHitNow(judged) && gains(judged, 'pep'),
  },
  {
    rule: 'crime_below_threshold',
    severity: 'medium',
    when: 'crime or wanted, below the threshold',
    applies: (judged) => gains(judged, 'crime'),
  },
  {
    rule: 'associate_hit_gained',
    severity: 'low',
    when: 'a hit for nothing but being close to a politically exposed person',
    applies: (judged) => {
      const gained = findGainedTopics(judged.difference);
      return (
        isHitNow(judged) &&
        gained.length > 0 &&
        gained.every((topic) => isOfFamily(judged.families, 'associate', topic))
      );
    },
  },
  {
    rule: 'hit_gained',
    severity: 'medium',
    when: 'any other new hit',
    applies: (judged) => isHitNow(judged) && (judged.difference.kind === 'hit_gained' || isNew(judged)),
  },
  {
    rule: 'hit_lost',
    severity: 'medium',
    when: 'a hit that fell below the threshold',
    applies: ({ difference }) => difference.kind === 'hit_lost',
  },
  {
    rule: 'not_returned',
    severity: 'medium',
    when: 'a hit or a sanctioned match that a cut list no longer shows',
    applies: (judged) => judged.difference.kind === 'match_not_returned' && wasSerious(judged),
  },
  {
    rule: 'delisted',
    severity: 'medium',
    when: 'a hit or a sanctioned match that a whole list no longer holds',
    applies: (judged) => judged.difference.after === null && wasSerious(judged),
  },
  {
    rule: 'sanction_topic_lost',
    severity: 'medium',
    when: 'a match that is no longer listed for a sanction',
    applies: ({ difference: { before, after }, families }) =>
      before !== null &&
      after !== null &&
      before.topics.some((topic) => isOfFamily(families, 'sanction', topic)) &&
      !after.topics.some((topic) => isOfFamily(families, 'sanction', topic)),
  },
  {
    rule: 'hit_facts_changed',
    severity: 'medium',
    when: 'another name or birth date of a hit',
    applies: (judged) =>
      isHitNow(judged) &&
      judged.difference.before !== null &&
      (hasField(judged, 'birth_date') || hasField(judged, 'name')),
  },
  {
    rule: 'rekeyed',
    severity: 'info',
    when: 'the same listed party under a new id, and nothing else',
    applies: ({ difference }) => difference.kind === 'match_rekeyed' && difference.fields.length === 0,
  },
  { rule: 'other_change', severity: 'low', when: 'anything else', applies: () => true },
] as const satisfies readonly SeverityRule[];

/** The name of a rule of the severity table. */
export type SeverityRuleName = (typeof severityRules)[number]['rule'];
