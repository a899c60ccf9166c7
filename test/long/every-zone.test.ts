import { expect, it } from 'vitest';
import { toLocalTime, toNextDay } from '../../src/local-time/local-time.js';
import { decideDue, findNextStart, type JobStanding } from '../../src/scheduling/decide-due.js';
import { toDueTimes } from '../../src/scheduling/due-times.js';
import type { JobDue, JobRun } from '../../src/store/job-runs.js';
import { printFigure } from '../helpers/print-figure.js';

const firstDate = '2024-01-01';
const lastDate = '2033-12-31';
const start = new Date('2023-12-30T00:00:00Z').getTime();
const end = new Date('2034-01-02T00:00:00Z').getTime();
const weekMs = 7 * 86_400_000;

/** Asked of the platform directly, by other code than what is tried here. */
function listChanges(timezone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset', hour: '2-digit' });
  const offsetAt = (ms: number) => format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value;
  let changes = 0;
  // Between two changes lie four weeks at least: those of Ramadan.
  for (let ms = start, last = offsetAt(ms); ms < end; ms += weekMs) {
    const next = offsetAt(ms);
    if (next !== last) changes += 1;
    last = next;
  }
  return changes;
}

const toFinished = (due: JobDue): JobRun => ({
  ...{ ...due, jobRunId: 1, job: 'rescreen', state: 'finished', isLate: false, attempts: 1, owner: 'host:1:a' },
  ...{ begunAt: due.dueAt, endedAt: due.dueAt, exitCode: 0, because: null, runIds: [] },
});

/** Lets a simulated clock go from one start to the next, as a scheduler does, and gives how often each local date was begun. */
function playNights(cron: string, timezone: string): Map<string, number> {
  const times = toDueTimes({ cron, timezone });
  const begun = new Map<string, number>();
  const plan = {
    job: 'rescreen',
    times,
    plannedSince: new Date(start),
    after: [],
    toStart: (due: JobDue) => due.dueAt,
  };
  let standing: JobStanding = { ...plan, known: [] };
  for (let now = new Date(start); ; ) {
    const next = findNextStart(standing, now);
    if (next === null || next.at.getTime() > end) return begun;
    now = next.at;
    const rules = { now, catchUpMs: 0, waitAtMostMs: 0, freeSince: null };
    const { decision, missed } = decideDue(standing, new Map(), rules);
    if (decision.kind !== 'begin' || missed.length > 0) throw new Error(`${cron} ${timezone} at ${now.toISOString()}`);
    begun.set(decision.due.localDate, (begun.get(decision.due.localDate) ?? 0) + 1);
    standing = { ...plan, known: [toFinished(decision.due)] };
  }
}

it('each local date of ten years has one run in every time zone', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  let nights = 0;
  let missed = 0;
  let doubled = 0;
  let changing = 0;
  for (const timezone of zones) {
    const changes = listChanges(timezone);
    if (changes > 0) changing += 1;
    // Clocks are changed at midnight, at one, two or three; in other zones the hour makes no difference.
    const crons = changes > 0 ? ['30 2 * * *', '0 0 * * *'] : ['30 2 * * *'];
    for (const cron of crons) {
      const begun = playNights(cron, timezone);
      for (let date = firstDate; date <= lastDate; date = toNextDay(date)) {
        const count = begun.get(date) ?? 0;
        nights += 1;
        if (count === 0) missed += 1;
        if (count > 1) doubled += 1;
      }
    }
  }
  printFigure(
    `${nights} nights in ${zones.length} time zones, ${changing} of which change their clocks: ${missed} missed, ${doubled} doubled`,
  );
  expect({ missed, doubled }).toEqual({ missed: 0, doubled: 0 });
  expect(zones.length).toBeGreaterThan(400);
  expect(changing).toBeGreaterThan(100);
  expect(toLocalTime(new Date(end), 'UTC').date).toBe('2034-01-02');
}, 1_800_000);
