import { addDays, hasDate, listInstants, toFirstInstant, toLocalTime, toNextDay } from '../local-time/local-time.js';
import type { JobSchedule } from '../runs/job.js';
import type { JobDue } from '../store/job-runs.js';
import { type CronTimes, toCronTimes } from './cron-times.js';

/** The 29th of February comes round after eight years at most; what has not by then never does. */
const longestSearchDays = 8 * 366 + 1;

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
  const recent = new Map<string, readonly JobDue[]>();
  const onDate = (date: string): readonly JobDue[] => {
    const dues = recent.get(date) ?? toDuesOfDate(times, date, timezone);
    // Enough for a look around midnight; a schedule of every second has many a day.
    if (recent.size > 4) recent.clear();
    recent.set(date, dues);
    return dues;
  };
  const toDate = (instant: Date): string => toLocalTime(instant, timezone).date;
  return {
    isByDate: times.isByDate,
    between: (after, until) => {
      const found: JobDue[] = [];
      // Where a date ends amid a change of clocks, its last time may fall on the next one.
      const last = toNextDay(toDate(until));
      for (let date = addDays(toDate(after), -1); date <= last; date = toNextDay(date)) found.push(...onDate(date));
      const inSpan = found.filter(({ dueAt }) => dueAt > after && dueAt <= until);
      return inSpan.filter(({ dueAt }, index) => dueAt.getTime() !== inSpan[index + 1]?.dueAt.getTime());
    },
    next: (after) => {
      let date = addDays(toDate(after), -1);
      for (let day = 0; day < longestSearchDays; day += 1) {
        const due = onDate(date).find(({ dueAt }) => dueAt > after);
        if (due) return due;
        date = toNextDay(date);
      }
      return null;
    },
    lastOn: (date) => onDate(date).at(-1) ?? null,
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
  if (!hasDate(date, timezone)) return [];
  const isNightly = times.times.length === 1;
  return times.times.map((time) => ({
    occasion: isNightly ? date : `${date} ${time}`,
    localDate: date,
    dueAt: toFirstInstant({ date, time }, timezone),
  }));
}
