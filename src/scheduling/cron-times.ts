import { createTask, parse, type ScheduledTask } from 'node-cron';

/**
 * What a cron expression asks of wall clocks, whatever the zone: on which dates, at which times (`hh:mm:ss`, in order). `isByDate`: at fixed
 * hours of a date; otherwise it comes round every hour, and the instants count instead.
 */
export interface CronTimes {
  times: readonly string[];
  isByDate: boolean;
  /** Whether a date (`yyyy-mm-dd`) is one of its dates. */
  isOn(date: string): boolean;
}

const hoursOfDay = 24;
const known = new Map<string, CronTimes>();

/** Reads a cron expression that `jobSettingsSchema` accepts. */
export function toCronTimes(cron: string): CronTimes {
  const times = known.get(cron) ?? readCron(cron);
  known.set(cron, times);
  return times;
}

function readCron(cron: string): CronTimes {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron);
  const times = product(hour, minute, second).toSorted();
  const [first = '00:00:00'] = times;
  const isDaily = new Set(dayOfMonth).size === 31 && new Set(month).size === 12 && new Set(dayOfWeek).size === 7;
  // Dates are judged by the library itself: L, W and # are its own.
  const task = isDaily ? null : toUnregistered(cron);
  return {
    times,
    isByDate: new Set(hour).size < hoursOfDay,
    isOn: (date) => task === null || task.match(new Date(`${date}T${first}Z`)),
  };
}

/** A task that never starts; matching needs no timer. */
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
