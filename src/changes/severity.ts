import { z } from 'zod';
import {
  type ChangeCause,
  type MatchField,
  type RiskTier,
  type Severity,
  type SeverityAdjustment,
  severities,
  type WorstTopic,
  worstTopics,
} from '../vocabulary.js';
import type { MatchDifference } from './change-event.js';
import type { Corroboration } from './corroboration.js';

const topicPattern = z
  .string()
  .regex(/^[^\s*]+$/, 'is a risk category without white space or asterisks, such as sanction or role.pep')
  .toLowerCase();

/** The topic families (service facts: AML vocabulary); a topic includes those below it: `crime` for `crime.fraud`. */
export const topicFamiliesSchema = z.strictObject({
  sanction: z
    .array(topicPattern)
    .min(1)
    .default(['sanction'])
    .describe('risk categories (`topics`) that mean a sanction'),
  crime: z.array(topicPattern).default(['crime', 'wanted']).describe('risk categories that mean a crime'),
  pep: z.array(topicPattern).default(['role.pep']).describe('risk categories that mean political exposure'),
  associate: z
    .array(topicPattern)
    .default(['role.rca'])
    .describe('risk categories that mean closeness to an exposed person'),
  other: z
    .array(topicPattern)
    .default(['debarment', 'role', 'poi', 'reg', 'export', 'corp', 'fin', 'gov', 'asset', 'mil', 'invest'])
    .describe('known risk categories of less weight; any other one counts as unknown, which is serious'),
});
export type TopicFamilies = z.infer<typeof topicFamiliesSchema>;

export const isOfFamily = (families: TopicFamilies, family: keyof TopicFamilies, topic: string): boolean =>
  families[family].some((root) => topic === root || topic.startsWith(`${root}.`));

export const familyNames = [
  'sanction',
  'crime',
  'pep',
  'associate',
  'other',
] as const satisfies readonly (keyof TopicFamilies)[];

export const isUnknownTopic = (families: TopicFamilies, topic: string): boolean =>
  !familyNames.some((family) => isOfFamily(families, family, topic));

/** The first family that matches: `other` holds the roots of more serious ones as well, such as `role` of `role.pep`. */
const findFamily = (families: TopicFamilies, topic: string): WorstTopic =>
  familyNames.find((family) => isOfFamily(families, family, topic)) ?? 'unknown';

/** The most serious family among topics, `none` without any. */
export function toWorstTopic(families: TopicFamilies, topics: readonly string[]): WorstTopic {
  const found = new Set(topics.map((topic) => findFamily(families, topic)));
  return worstTopics.find((family) => found.has(family)) ?? 'none';
}

/** The facts that a rule uses. */
interface AssessedDifference {
  difference: MatchDifference;
  corroboration: Corroboration;
  cause: ChangeCause;
  /** A reviewer has set a true match. */
  isTrueMatch: boolean;
  families: TopicFamilies;
}

interface SeverityRule {
  rule: string;
  severity: Severity;
  /** When it applies, for the documentation. */
  when: string;
  applies: (assessed: AssessedDifference) => boolean;
}

/** The topics that a reader has not seen with this match as it is now: all of them when it is new, back, or became a hit. */
function findGainedTopics(difference: MatchDifference): readonly string[] {
  const { before, after, kind } = difference;
  if (after === null) return [];
  if (before === null || kind === 'hit_gained' || kind === 'match_returned') return after.topics;
  const known = new Set(before.topics);
  return after.topics.filter((topic) => !known.has(topic));
}

const gains = ({ difference, families }: AssessedDifference, family: keyof TopicFamilies): boolean =>
  findGainedTopics(difference).some((topic) => isOfFamily(families, family, topic));
const isHitNow = ({ difference }: AssessedDifference): boolean => difference.after?.isHit === true;
const isNew = ({ difference }: AssessedDifference): boolean =>
  difference.before === null || difference.kind === 'match_returned';
const hasField = ({ difference }: AssessedDifference, field: MatchField): boolean => {
  const fields: readonly MatchField[] = difference.fields;
  return fields.includes(field);
};
const wasSerious = ({ difference, families }: AssessedDifference): boolean => {
  const { before } = difference;
  return before !== null && (before.isHit || before.topics.some((topic) => isOfFamily(families, 'sanction', topic)));
};

/** The severity table. The first rule that applies decides, so each one only says what those above it have left over. */
export const severityRules = [
  {
    rule: 'sanction_hit_gained',
    severity: 'critical',
    when: 'a hit with a sanction that it did not have before, or a sanctioned match that became a hit',
    applies: (assessed) => isHitNow(assessed) && gains(assessed, 'sanction'),
  },
  {
    rule: 'hit_without_topic',
    severity: 'critical',
    when: 'a hit that does not say what for: it may be a sanction',
    applies: (assessed) =>
      isHitNow(assessed) &&
      (isNew(assessed) || assessed.difference.kind === 'hit_gained') &&
      assessed.difference.after?.topics.length === 0,
  },
  {
    rule: 'true_match_customer_changed',
    severity: 'high',
    when: 'the customer\u2019s facts changed, and with them a match that a reviewer has confirmed',
    applies: ({ isTrueMatch, cause }) => isTrueMatch && cause === 'customer_record',
  },
  {
    rule: 'crime_hit_gained',
    severity: 'high',
    when: 'a hit for crime, or of somebody wanted',
    applies: (assessed) => isHitNow(assessed) && gains(assessed, 'crime'),
  },
  {
    rule: 'sanction_birth_date_agrees',
    severity: 'high',
    when: 'a sanction below the threshold, and the birth date agrees',
    applies: (assessed) => gains(assessed, 'sanction') && assessed.corroboration.birthDate === 'agree',
  },
  {
    rule: 'unknown_topic',
    severity: 'high',
    when: 'a risk category that is not known',
    applies: ({ difference, families }) =>
      findGainedTopics(difference).some((topic) => isUnknownTopic(families, topic)),
  },
  {
    rule: 'sanction_below_threshold',
    severity: 'medium',
    when: 'a sanction below the threshold',
    applies: (assessed) => gains(assessed, 'sanction'),
  },
  {
    rule: 'pep_hit_gained',
    severity: 'medium',
    when: 'a hit of a politically exposed person',
    applies: (assessed) => isHitNow(assessed) && gains(assessed, 'pep'),
  },
  {
    rule: 'crime_below_threshold',
    severity: 'medium',
    when: 'crime or wanted, below the threshold',
    applies: (assessed) => gains(assessed, 'crime'),
  },
  {
    rule: 'associate_hit_gained',
    severity: 'low',
    when: 'a hit for nothing but being close to a politically exposed person',
    applies: (assessed) => {
      const gained = findGainedTopics(assessed.difference);
      return (
        isHitNow(assessed) &&
        gained.length > 0 &&
        gained.every((topic) => isOfFamily(assessed.families, 'associate', topic))
      );
    },
  },
  {
    rule: 'hit_gained',
    severity: 'medium',
    when: 'any other new hit',
    applies: (assessed) => isHitNow(assessed) && (assessed.difference.kind === 'hit_gained' || isNew(assessed)),
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
    applies: (assessed) => assessed.difference.kind === 'match_not_returned' && wasSerious(assessed),
  },
  {
    rule: 'delisted',
    severity: 'medium',
    when: 'a hit or a sanctioned match that a whole list no longer holds',
    applies: (assessed) => assessed.difference.after === null && wasSerious(assessed),
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
    applies: (assessed) =>
      isHitNow(assessed) &&
      assessed.difference.before !== null &&
      (hasField(assessed, 'birth_date') || hasField(assessed, 'name')),
  },
  {
    rule: 'rekeyed',
    severity: 'info',
    when: 'the same listed party under a new id, and nothing else',
    applies: ({ difference }) => difference.kind === 'match_rekeyed' && difference.fields.length === 0,
  },
  { rule: 'other_change', severity: 'low', when: 'anything else', applies: () => true },
] as const satisfies readonly SeverityRule[];

export type SeverityRuleName = (typeof severityRules)[number]['rule'];

const ruleNames = severityRules.map(({ rule }): SeverityRuleName => rule);

/** What counts as a change, and its severity. */
export const changeSettingsSchema = z.strictObject({
  scoreStep: z
    .number()
    .positive()
    .max(1)
    .default(0.02)
    .describe('a score has to move by at least this much from the value last reported or decided on'),
  topics: topicFamiliesSchema.prefault({}).describe('which risk categories belong together'),
  severities: z
    .partialRecord(z.enum(ruleNames), z.enum(severities))
    .default({})
    .describe("severities other than the table's own, by the name of the rule"),
});
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;

/**
 * Assesses a difference by the table; deterministic, and always with a rule. A birth date that contradicts lowers the severity by one step,
 * and a high risk tier raises it by one. Returns the rule and the adjustments of the severity.
 */
export function toSeverity(
  subject: Omit<AssessedDifference, 'families'> & { riskTier: RiskTier | null },
  settings: ChangeSettings,
): { severity: Severity; rule: SeverityRuleName; adjustments: readonly SeverityAdjustment[] } {
  const assessed: AssessedDifference = { ...subject, families: settings.topics };
  const found = severityRules.find(({ applies }) => applies(assessed)) ?? otherChange;
  const adjustments: SeverityAdjustment[] = [];
  let severity = settings.severities[found.rule] ?? found.severity;
  if (isLowered(assessed, severity)) {
    severity = lowerOneStep(severity);
    adjustments.push('birth_date_contradicts');
  }
  if (isRaised(subject.riskTier, severity)) {
    severity = raiseOneStep(severity);
    adjustments.push('risk_tier');
  }
  return { severity, rule: found.rule, adjustments };
}

// For the compiler only: the last rule always applies.
const otherChange = { rule: 'other_change', severity: 'low' } as const;

// `severities` begins with the most severe one.
const lowerOneStep = (severity: Severity): Severity => severities[severities.indexOf(severity) + 1] ?? severity;
const raiseOneStep = (severity: Severity): Severity => severities[severities.indexOf(severity) - 1] ?? severity;

/**
 * Whether a contradicting birth date lowers the severity. It never does for a match that is no longer returned, for a true match, below low,
 * and below medium where a sanction is or was listed.
 */
function isLowered(assessed: AssessedDifference, severity: Severity): boolean {
  const { difference, corroboration, isTrueMatch, families } = assessed;
  const { before, after } = difference;
  if (corroboration.birthDate !== 'contradict' || after === null || isTrueMatch) return false;
  const topics = [...(before?.topics ?? []), ...after.topics];
  const isSanction = topics.some((topic) => isOfFamily(families, 'sanction', topic));
  return severities.indexOf(severity) < severities.indexOf(isSanction ? 'medium' : 'low');
}

/** Whether the risk tier raises the severity, which it never does to critical. */
const isRaised = (riskTier: RiskTier | null, severity: Severity): boolean =>
  riskTier === 'high' && (severity === 'medium' || severity === 'low');
