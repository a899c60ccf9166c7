import { toInstant, toLocalTime, toNextDay } from '../local-time.js';
import type { Match } from '../matches/match.js';
import type { Agreement, MatchField, Severity } from '../vocabulary.js';
import type { Corroboration } from './corroboration.js';

/** One difference between the match set last reported and the one just seen, before anybody judged it. */
export type MatchDifference =
  | { kind: 'match_added'; matchId: string; before: null; after: Match; fields: readonly [] }
  | { kind: 'match_removed' | 'match_not_returned'; matchId: string; before: Match; after: null; fields: readonly [] }
  | {
      kind: 'match_changed' | 'match_rekeyed' | 'match_returned' | 'hit_gained' | 'hit_lost';
      /** The id of the match as seen now. */
      matchId: string;
      before: Match;
      after: Match;
      /** Which fields differ, sorted. */
      fields: readonly MatchField[];
    };

const bySeverity: Readonly<Record<Severity, number>> = { critical: 800, high: 600, medium: 400, low: 200, info: 0 };
const hit = 80;
const byBirthDate: Readonly<Record<Agreement, number>> = { agree: 60, unknown: 30, contradict: 0 };
const byCountry: Readonly<Record<Agreement, number>> = { agree: 20, unknown: 10, contradict: 0 };
const wholeScore = 39;

/**
 * Places what a reviewer should look at first: 0 to 999, more is sooner. Severity decides before all else, then whether it is a hit, then
 * birth date and country, then the service's score, which stays as it is.
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

/** On which days somebody works, and where. */
export interface WorkCalendar {
  /** IANA name. */
  timezone: string;
  /** Days of the week, 1 for Monday to 7 for Sunday. */
  workdays: readonly number[];
  /** `yyyy-mm-dd`. */
  holidays: readonly string[];
}

const hourMs = 3_600_000;
const criticalMs = 4 * hourMs;

/** In business days; what is critical has hours. */
const businessDays: Readonly<Record<Exclude<Severity, 'critical'>, number | null>> = {
  high: 1,
  medium: 5,
  low: 20,
  info: null,
};

/**
 * When something of a severity is due that was opened at `openedAt`: after 4 hours by the clock, or at the same local time 1, 5 or 20
 * business days later; what opens on a day off counts from the beginning of the next business day. Null where nobody has to look.
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

/** The `count`th business day after a date. */
function findWorkday(date: string, count: number, isWorkday: (date: string) => boolean): string {
  let day = date;
  for (let left = count; left > 0; ) {
    day = toNextDay(day);
    if (isWorkday(day)) left -= 1;
  }
  return day;
}
