import type { Severity } from './change-event.js';
import type { Agreement } from './compare-birth-dates.js';
import type { Corroboration } from './corroboration.js';

/** What a priority is made of. */
export interface PrioritySubject {
  severity: Severity;
  isHit: boolean;
  corroboration: Corroboration;
  /** The service's own. */
  score: number;
}

const bySeverity: Readonly<Record<Severity, number>> = { critical: 800, high: 600, medium: 400, low: 200, info: 0 };
const hit = 80;
const byBirthDate: Readonly<Record<Agreement, number>> = { agree: 60, unknown: 30, contradict: 0 };
const byCountry: Readonly<Record<Agreement, number>> = { agree: 20, unknown: 10, contradict: 0 };
const wholeScore = 39;

/**
 * Places what a reviewer should look at first: 0 to 999, more is sooner. Severity decides before all else, then whether it is a hit, then
 * birth date and country, then the service's score, which stays as it is.
 */
export function toPriority({ severity, isHit, corroboration, score }: PrioritySubject): number {
  const { birthDate, country } = corroboration;
  const share = Math.min(1, Math.max(0, score));
  return (
    bySeverity[severity] +
    (isHit ? hit : 0) +
    byBirthDate[birthDate] +
    byCountry[country] +
    Math.round(wholeScore * share)
  );
}
