import type { RiskTier } from '../roster/customer.js';
import { type Severity, severities } from './change-event.js';
import type { ChangeSettings } from './settings.js';
import { type JudgedDifference, type SeverityRuleName, severityRules } from './severity-rules.js';
import { isOfFamily } from './topic-families.js';

/** What moved a severity away from its rule's. */
export const severityAdjustments = ['birth_date_contradicts', 'risk_tier'] as const;
export type SeverityAdjustment = (typeof severityAdjustments)[number];

/** A judgement: how much a difference matters, the rule of the table that says so, and what moved it from there. */
export interface SeverityVerdict {
  severity: Severity;
  rule: SeverityRuleName;
  adjustments: readonly SeverityAdjustment[];
}

/** A difference with all that its judgement depends on. */
export interface SeverityCase extends Omit<JudgedDifference, 'families'> {
  riskTier: RiskTier | null;
}

/**
 * Judges a difference by the table; deterministic, and never without a rule. A birth date that contradicts lowers by one step: never below
 * low, a sanction now or before never below medium, and neither a match that is no longer returned nor one that a reviewer has confirmed.
 * The risk tier only raises, and never to critical.
 */
export function toSeverity(subject: SeverityCase, settings: ChangeSettings): SeverityVerdict {
  const judged: JudgedDifference = { ...subject, families: settings.topics };
  const found = severityRules.find(({ applies }) => applies(judged)) ?? otherChange;
  const adjustments: SeverityAdjustment[] = [];
  let severity = settings.severities[found.rule] ?? found.severity;
  if (isLowered(judged, severity, settings)) {
    severity = move(severity, 1);
    adjustments.push('birth_date_contradicts');
  }
  if (isRaised(subject.riskTier, severity, settings)) {
    severity = move(severity, -1);
    adjustments.push('risk_tier');
  }
  return { severity, rule: found.rule, adjustments };
}

const otherChange = { rule: 'other_change', severity: 'low' } as const;

const move = (severity: Severity, steps: number): Severity =>
  severities[severities.indexOf(severity) + steps] ?? severity;

function isLowered(judged: JudgedDifference, severity: Severity, settings: ChangeSettings): boolean {
  const { difference, corroboration, isConfirmed, families } = judged;
  const { before, after } = difference;
  if (!settings.birthDateLowers || corroboration.birthDate !== 'contradict' || after === null || isConfirmed)
    return false;
  const topics = [...(before?.topics ?? []), ...after.topics];
  const isSanction = topics.some((topic) => isOfFamily(families, 'sanction', topic));
  return severities.indexOf(severity) < severities.indexOf(isSanction ? 'medium' : 'low');
}

const isRaised = (riskTier: RiskTier | null, severity: Severity, { raisedTiers }: ChangeSettings): boolean =>
  riskTier !== null && raisedTiers.includes(riskTier) && (severity === 'medium' || severity === 'low');
