import { expect, it } from 'vitest';
import { toLocalTime, toNextDay } from '../../src/local-time.js';
import { toDueTimes } from '../../src/scheduling/due-times.js';
import { decideDue, findNextStart, type JobStatus } from '../../src/scheduling/schedule.js';
import { toJobRun } from '../helpers/clocks.js';
import { printFigure } from '../helpers/figures.js';

const firstDate = '2024-01-01';
const lastDate = '2033-12-31';
const start = new Date('2023-12-30T00:00:00Z').getTime();
const end = new Date('2034-01-02T00:00:00Z').getTime();
const weekMs = 7 * 86_400_000;

/** When a zone's clock is changed and to what, by code other than what is tried here: asked of the platform directly. */
function readClock(timezone: string): { first: string; changes: readonly { ms: number; offset: string }[] } {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset', hour: '2-digit' });
  const offsetAt = (ms: number) => format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const first = offsetAt(start);
  const changes: { ms: number; offset: string }[] = [];
  // Between two changes lie four weeks at least: those of Ramadan.
  for (let ms = start, last = first; ms < end; ms += weekMs) {
    const offset = offsetAt(ms + weekMs);
    if (offset === last) continue;
    let [before, after] = [ms, ms + weekMs];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === offset) after = middle;
      else before = middle;
    }
    changes.push({ ms: after, offset });
    last = offset;
  }
  return { first, changes };
}

/** Lets a simulated clock go from one start to the next, as a scheduler does, and gives how often each local date was begun. */
function playNights(cron: string, timezone: string): Map<string, number> {
  const times = toDueTimes({ cron, timezone });
  const begun = new Map<string, number>();
  const plan = { job: 'rescreen', times, plannedSince: new Date(start), after: [] };
  let status: JobStatus = { ...plan, known: [] };
  for (let now = new Date(start); ; ) {
    const next = findNextStart(status, now);
    if (next === null || next.dueAt.getTime() > end) return begun;
    now = next.dueAt;
    const { decision, missed } = decideDue(status, new Map(), { now, freeSince: null });
    if (decision.kind !== 'begin' || missed.length > 0) throw new Error(`${cron} ${timezone} at ${now.toISOString()}`);
    begun.set(decision.due.localDate, (begun.get(decision.due.localDate) ?? 0) + 1);
    status = { ...plan, known: [toJobRun(decision.due)] };
  }
}

it('each local date of ten years has one run in every time zone', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const byClock = new Map<string, { zones: string[]; isChanged: boolean }>();
  for (const timezone of zones) {
    const clock = readClock(timezone);
    const known = byClock.get(JSON.stringify(clock));
    if (known) known.zones.push(timezone);
    else byClock.set(JSON.stringify(clock), { zones: [timezone], isChanged: clock.changes.length > 0 });
  }
  let nights = 0;
  let missed = 0;
  let doubled = 0;
  let changing = 0;
  // Zones whose clocks show the same at every moment of the ten years are one case.
  for (const { zones: alike, isChanged } of byClock.values()) {
    const [timezone = ''] = alike;
    if (isChanged) changing += alike.length;
    // Clocks are changed at midnight, at one, two or three; in other zones the hour makes no difference.
    for (const cron of isChanged ? ['30 2 * * *', '0 0 * * *'] : ['30 2 * * *']) {
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
    `${nights} nights on the ${byClock.size} clocks of ${zones.length} time zones, ${changing} of which change theirs: ${missed} missed, ${doubled} doubled`,
  );
  expect({ missed, doubled }).toEqual({ missed: 0, doubled: 0 });
  expect(zones.length).toBeGreaterThan(400);
  expect(changing).toBeGreaterThan(100);
  expect(toLocalTime(new Date(end), 'UTC').date).toBe('2034-01-02');
}, 900_000);
