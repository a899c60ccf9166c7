import { toInstant, toLocalTime, toNextDay } from '../local-time/local-time.js';
import type { Severity } from './change-event.js';

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
