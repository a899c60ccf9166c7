import { hasDate, listInstants, toDate, toDayNumber, toDayNumberOf, toFirstInstant } from '../local-time/local-time.js';
import type { JobSchedule } from '../runs/job.js';
import type { JobDue } from '../store/job-runs.js';
import { type CronTimes, toCronTimes } from './cron-times.js';

/** The 29th of February comes round after eight years at most; what has not by then never does. */
const longestSearchDays = 8 * 366 + 1;

const daysKept = 12;

/** When a job is due, in order, each time once. */
export interface DueTimes {
  /** Whether it runs at fixed times of a date, which clocks that are changed neither leave out nor double. */
  isByDate: boolean;
  /** All after one instant up to and including another; of several that a change of clocks moves to one instant the last. */
  between(after: Date, until: Date): readonly JobDue[];
  /** The first one after an instant; null when it never comes round. */
  next(after: Date): JobDue | null;
  /** The last one on a date (`yyyy-mm-dd`) of the schedule's time zone; null when there is none. */
  lastOn(date: string): JobDue | null;
}

/** The times at which a schedule asks for its job (`toDuesOfDate` says which). */
export function toDueTimes({ cron, timezone }: JobSchedule): DueTimes {
  const times = toCronTimes(cron);
  const recent = new Map<number, readonly JobDue[]>();
  const onDay = (day: number): readonly JobDue[] => {
    const known = recent.get(day);
    if (known) return known;
    const dues = toDuesOfDate(times, toDate(day), timezone);
    // A look needs a few days around its own; a schedule of every second has many times on each.
    if (recent.size >= daysKept) recent.clear();
    recent.set(day, dues);
    return dues;
  };
  // Where a date ends amid a change of clocks, its last time may fall on the next one.
  const firstDay = (after: Date): number => toDayNumber(after, timezone) - 1;
  return {
    isByDate: times.isByDate,
    between: (after, until) => {
      const last = toDayNumber(until, timezone) + 1;
      const found: JobDue[] = [];
      for (let day = firstDay(after); day <= last; day += 1) {
        for (const due of onDay(day)) if (due.dueAt > after && due.dueAt <= until) found.push(due);
      }
      return found.filter(({ dueAt }, index) => dueAt.getTime() !== found[index + 1]?.dueAt.getTime());
    },
    next: (after) => {
      const start = firstDay(after);
      for (let day = start; day <= start + longestSearchDays; day += 1) {
        const due = onDay(day).find(({ dueAt }) => dueAt > after);
        if (due) return due;
      }
      return null;
    },
    lastOn: (date) => onDay(toDayNumberOf(date)).at(-1) ?? null,
  };
}

/**
 * The times of a date at which a schedule is due. By date: each wall time once, the first time where it comes twice, and at the first
 * instant after it where clocks are put forward past it. Otherwise: every instant at which a wall clock shows one of its times.
 */
function toDuesOfDate(times: CronTimes, date: string, timezone: string): readonly JobDue[] {
  if (!times.isOn(date)) return [];
  if (!times.isByDate) {
    const instants = times.times.flatMap((time) => listInstants({ date, time }, timezone));
    return instants
      .toSorted((one, other) => one.getTime() - other.getTime())
      .map((dueAt) => ({ occasion: dueAt.toISOString(), localDate: date, dueAt }));
  }
  const isNightly = times.times.length === 1;
  return times.times.flatMap((time) => {
    const [first] = listInstants({ date, time }, timezone);
    if (!first && !hasDate(date, timezone)) return [];
    const dueAt = first ?? toFirstInstant({ date, time }, timezone);
    return [{ occasion: isNightly ? date : `${date} ${time}`, localDate: date, dueAt }];
  });
}
