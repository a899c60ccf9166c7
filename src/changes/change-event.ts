import { toInstant, toLocalTime, toNextDay } from '../local-time.js';
import type { Match } from '../matches/match.js';
import type { Agreement, MatchField, Severity } from '../vocabulary.js';
import type { Corroboration } from './corroboration.js';

/** One difference between the last reported match set and the new one, not assessed yet. */
export type MatchDifference =
  | { kind: 'match_added'; matchId: string; before: null; after: Match; fields: readonly [] }
  | { kind: 'match_removed' | 'match_not_returned'; matchId: string; before: Match; after: null; fields: readonly [] }
  | {
      kind: 'match_changed' | 'match_rekeyed' | 'match_returned' | 'hit_gained' | 'hit_lost';
      /** The present id of the match. */
      matchId: string;
      before: Match;
      after: Match;
      /** The changed fields, sorted. */
      fields: readonly MatchField[];
    };

const bySeverity: Readonly<Record<Severity, number>> = { critical: 800, high: 600, medium: 400, low: 200, info: 0 };
const hit = 80;
const byBirthDate: Readonly<Record<Agreement, number>> = { agree: 60, unknown: 30, contradict: 0 };
const byCountry: Readonly<Record<Agreement, number>> = { agree: 20, unknown: 10, contradict: 0 };
const wholeScore = 39;

/**
 * The priority of a change for reviewers, 0 to 999, higher first: by severity, then hit, then birth date and country, then the service's
 * unchanged score.
 */
export function toPriority({
  severity,
  isHit,
  corroboration,
  score,
}: {
  severity: Severity;
  isHit: boolean;
  corroboration: Corroboration;
  score: number;
}): number {
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

/** The business days of reviewers. */
export interface WorkCalendar {
  timezone: string;
  /** Days of the week, 1 for Monday to 7 for Sunday. */
  workdays: readonly number[];
  holidays: readonly string[];
}

const hourMs = 3_600_000;
const criticalMs = 4 * hourMs;

/** In business days; critical changes are due in hours. */
const businessDays: Readonly<Record<Exclude<Severity, 'critical'>, number | null>> = {
  high: 1,
  medium: 5,
  low: 20,
  info: null,
};

/**
 * The due time of a severity opened at `openedAt`: after 4 hours, or at the same local time 1, 5 or 20 business days later. Openings on a
 * day off count from the start of the next business day. Null when no review is due.
 */
export function toDueTime(severity: Severity, openedAt: Date, calendar: WorkCalendar): Date | null {
  if (severity === 'critical') return new Date(openedAt.getTime() + criticalMs);
  const days = businessDays[severity];
  if (days === null) return null;
  const { date, time } = toLocalTime(openedAt, calendar.timezone);
  const isWorkday = toWorkdayTest(calendar);
  const start = isWorkday(date) ? { date, time } : { date: findWorkday(date, 1, isWorkday), time: '00:00:00' };
  return toInstant({ date: findWorkday(start.date, days, isWorkday), time: start.time }, calendar.timezone);
}

function toWorkdayTest({ workdays, holidays }: WorkCalendar): (date: string) => boolean {
  const off = new Set(holidays);
  const on = new Set(workdays);
  return (date) => !off.has(date) && on.has(new Date(`${date}T00:00:00Z`).getUTCDay() || 7);
}

function findWorkday(date: string, count: number, isWorkday: (date: string) => boolean): string {
  let day = date;
  for (let left = count; left > 0; ) {
    day = toNextDay(day);
    if (isWorkday(day)) left -= 1;
  }
  return day;
}
