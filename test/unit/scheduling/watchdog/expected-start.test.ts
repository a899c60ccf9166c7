import { expect, it } from 'vitest';
import { findExpectedStart, findPlans } from '../../../../src/scheduling/watchdog/expectations.js';
import { findAgeMoment } from '../../../../src/scheduling/watchdog/watch.js';
import type { JobRun } from '../../../../src/store/operations/jobs.js';
import type { NightFacts, RunningFacts } from '../../../../src/store/operations/watch-facts.js';
import { toJobRun } from '../../../helpers/clocks.js';

const hourMs = 3_600_000;
const at = (time: string): Date => new Date(`2026-03-${time}:00Z`);
const nightly = { schedule: { cron: '0 2 * * *', timezone: 'Europe/Copenhagen' } };

it('a start is expected once it is late, by the schedule in its own time zone', () => {
  const since = (time: string): Date | undefined => findExpectedStart(nightly, at(time), [])?.since;
  expect(since('10T02:59')).toEqual(at('09T00:59'));
  expect(since('10T03:00')).toEqual(at('10T00:59'));
  const workdays = { schedule: { cron: '0 2 * * 1-5', timezone: 'UTC' } };
  expect(findExpectedStart(workdays, at('08T12:00'), [])?.since).toEqual(at('06T01:59'));
  const leapDays = { schedule: { cron: '0 0 29 2 *', timezone: 'UTC' } };
  expect(findExpectedStart(leapDays, at('10T08:00'), [])).toBeNull();
});

it('without a schedule the last start may be as old as the cadence and the delay allow', () => {
  const every = { everyMs: 24 * hourMs };
  expect(findExpectedStart(every, at('10T08:00'), [])?.since).toEqual(at('09T06:00'));
  // A fresh installation has a cadence and the delay for its first night.
  expect(findExpectedStart(every, at('10T08:00'), [at('09T06:01')])).toBeNull();
});

it('nothing is expected of what was not watched yet, except by a clock that was ahead', () => {
  const since = (...watched: readonly Date[]) => findExpectedStart(nightly, at('10T08:00'), watched)?.since;
  expect(since(at('10T00:59'), at('01T00:00'))).toEqual(at('10T00:59'));
  expect(since(at('10T01:00'), at('01T00:00'))).toBeUndefined();
  expect(since(at('20T00:00'))).toEqual(at('10T00:59'));
});

const done = (dueSlot: string, begunAt: Date): JobRun => toJobRun({ dueSlot, localDate: dueSlot, dueAt: begunAt });

it('a date that was done before its time was moved counts from when it was begun', () => {
  const moved = { schedule: { cron: '0 5 * * *', timezone: 'UTC' } };
  const since = (...runs: readonly JobRun[]): Date | undefined =>
    findExpectedStart(moved, at('10T08:00'), [at('01T00:00')], runs)?.since;
  expect(since()).toEqual(at('10T04:59'));
  expect(since(done('2026-03-10', at('10T02:00')), done('2026-03-09', at('09T02:00')))).toEqual(at('10T01:59'));
  expect(since(done('2026-03-09', at('09T02:00')))).toEqual(at('10T04:59'));
});

it('waits for other jobs end six hours after a start is late', () => {
  expect(findExpectedStart(nightly, at('10T08:00'), [])?.waitsUntil).toEqual(at('10T09:00'));
});

const kept = (facts: { cron?: string; timezone?: string; retiredAt?: Date | null } = {}) => ({
  job: 'sweep',
  cron: '0 1 * * *',
  timezone: 'UTC',
  plannedSince: at('01T00:00'),
  retiredAt: null,
  ...facts,
});
const planOf = (schedule: ReturnType<typeof kept>, sweep?: string, timezone = 'UTC') =>
  findPlans([schedule], { sweep }, timezone).get('sweep');

it('a job goes by what the configuration says of it, else by what a scheduler went by last', () => {
  const plan = { schedule: { cron: '0 1 * * *', timezone: 'UTC' }, keptSince: at('01T00:00') };
  expect(planOf(kept())).toEqual(plan);
  expect(planOf(kept({ retiredAt: at('02T00:00') }))).toBeUndefined();
  expect(planOf(kept(), 'off')).toBeUndefined();
  expect(planOf(kept(), '0 1 * * *')).toEqual(plan);
  const moved = { cron: '0 4 * * *', timezone: 'Europe/Copenhagen' };
  for (const before of [kept(), kept({ retiredAt: at('02T00:00') })])
    expect(planOf(before, moved.cron, moved.timezone)).toEqual({ schedule: moved, keptSince: null });
});

it('while a night that began in time is under way, ages are judged as of its beginning', () => {
  const now = at('10T03:30');
  const toNight = (runId: number, takenAt: Date): NightFacts => ({
    runId,
    name: `run-${runId}`,
    state: 'running',
    reasons: [],
    takenAt,
    failed: 0,
    hasFailedControl: false,
    isProven: null,
  });
  const alive = (...runIds: readonly number[]): RunningFacts[] =>
    runIds.map((runId) => ({
      runId,
      name: '',
      kind: 'rescreen',
      roster: null,
      owner: '',
      silentMs: null,
      activeAt: now,
    }));
  const expected = { since: at('10T01:59'), waitsUntil: now, because: '' };
  const own = { begun: toNight(7, at('10T02:00')), expected, isWaiting: false };
  const findMoment = (start: Parameters<typeof findAgeMoment>[0], running: readonly RunningFacts[]): Date =>
    findAgeMoment(start, [toNight(8, at('10T02:10'))], { running, now });
  expect(findMoment(own, alive(7))).toEqual(at('10T02:00'));
  // Its process is gone, it began too early to be the one that is due, or it has ended.
  expect(findMoment(own, [])).toEqual(now);
  expect(findMoment({ ...own, begun: toNight(7, at('09T12:00')) }, alive(7))).toEqual(now);
  // It waits for the night of another roster.
  expect(findMoment({ ...own, begun: null, isWaiting: true }, alive(8))).toEqual(at('10T02:10'));
  expect(findMoment({ ...own, begun: null }, alive(8))).toEqual(now);
});
