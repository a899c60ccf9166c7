import { createTask, parse, type ScheduledTask } from 'node-cron';
import { findFirstInstant, listInstants, toDate, toDayNumber, toDayNumberOf } from '../local-time.js';
import type { JobSchedule } from '../runs/app-context.js';
import type { JobDue } from '../store/operations/jobs.js';

/** The 29th of February returns after eight years at most; a time that has not come by then never comes. */
const longestSearchDays = 8 * 366 + 1;

/** The times at which a job is due, in order, each once. */
export interface DueTimes {
  /** Whether it runs at fixed times of a date, which a change of clocks neither skips nor doubles. */
  isByDate: boolean;
  /** All after one instant up to and including another; of several that a change of clocks moves to one instant, the last. */
  between(after: Date, until: Date): readonly JobDue[];
  /** The first after an instant; null when none comes. */
  next(after: Date): JobDue | null;
  /** The last on a date (`yyyy-mm-dd`) of the schedule's time zone; null without one. */
  lastOn(date: string): JobDue | null;
}

/** The due times of a schedule, by the rules of `toDueSlotsOfDate`. */
export function toDueTimes({ cron, timezone }: JobSchedule): DueTimes {
  const times = toCronTimes(cron);
  const onDay = (day: number): readonly JobDue[] => toDueSlotsOfDate(times, toDate(day), timezone);
  // When clocks change around midnight, the last time of a date may fall on the next date.
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
 * The due times of one date. By date: each wall time once, the first of two equal ones, and for a time that clocks skip the first instant after
 * it. Otherwise: every instant at which a wall clock shows one of the times.
 */
function toDueSlotsOfDate(times: CronTimes, date: string, timezone: string): readonly JobDue[] {
  if (!times.isOn(date)) return [];
  if (!times.isByDate) {
    const instants = times.times.flatMap((time) => listInstants({ date, time }, timezone));
    return instants
      .toSorted((one, other) => one.getTime() - other.getTime())
      .map((dueAt) => ({ dueSlot: dueAt.toISOString(), localDate: date, dueAt }));
  }
  const isNightly = times.times.length === 1;
  return times.times.flatMap((time) => {
    const dueAt = findFirstInstant({ date, time }, timezone);
    return dueAt === null ? [] : [{ dueSlot: isNightly ? date : `${date} ${time}`, localDate: date, dueAt }];
  });
}

type CronTimes = ReturnType<typeof toCronTimes>;

const hoursOfDay = 24;

/**
 * The dates and wall times (`hh:mm:ss`, in order) of a cron expression that is valid by `jobSettingsSchema`, in any zone. `isByDate`: at fixed
 * hours of a date; otherwise it runs every hour, and instants count instead.
 */
export function toCronTimes(cron: string) {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron);
  const times = product(hour, minute, second).toSorted();
  const [first = '00:00:00'] = times;
  const isDaily = new Set(dayOfMonth).size === 31 && new Set(month).size === 12 && new Set(dayOfWeek).size === 7;
  // The library itself checks dates, because L, W and # are its own syntax.
  const task = isDaily ? null : toUnregistered(cron);
  return {
    times,
    isByDate: new Set(hour).size < hoursOfDay,
    isOn: (date: string): boolean => task === null || task.match(new Date(`${date}T${first}Z`)),
  };
}

/** A task that never starts: matching needs no timer. */
function toUnregistered(cron: string): ScheduledTask {
  const task = createTask(cron, () => {}, { timezone: 'UTC' });
  void task.destroy();
  return task;
}

function product(...fields: readonly (readonly number[])[]): string[] {
  return fields.reduce<string[]>(
    (starts, field) => starts.flatMap((start) => [...new Set(field)].map((value) => join(start, value))),
    [''],
  );
}

const join = (start: string, value: number): string =>
  `${start === '' ? '' : `${start}:`}${String(value).padStart(2, '0')}`;

/** Older due times of a schedule are not searched. */
export const longestBackMs = 32 * 86_400_000;

/** The last due time up to a moment; null without one. */
export const findLastDue = (times: DueTimes, until: Date): JobDue | null =>
  times.between(new Date(until.getTime() - longestBackMs), until).at(-1) ?? null;

/** The next times of a schedule, at most `count`. */
export function listNextRuns(schedule: JobSchedule, now: Date, count = 1): Date[] {
  const times = toDueTimes(schedule);
  const found: Date[] = [];
  for (let due = times.next(now); due !== null && found.length < count; due = times.next(due.dueAt))
    found.push(due.dueAt);
  return found;
}
