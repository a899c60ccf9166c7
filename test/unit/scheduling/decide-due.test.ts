import { expect, it } from 'vitest';
import { toDueTimes } from '../../../src/scheduling/due-times.js';
import { decideDue, findNextStart, type JobStatus, mostAttempts } from '../../../src/scheduling/schedule.js';
import type { JobRun } from '../../../src/store/operations/jobs.js';
import { toJobRun } from '../../helpers/clocks.js';

const at = (text: string): Date => new Date(text);

const toCurrent = (job: string, cron: string, changes: Partial<JobStatus> = {}): JobStatus => ({
  job,
  times: toDueTimes({ cron, timezone: 'UTC' }),
  plannedSince: at('2026-11-01T12:00Z'),
  after: [],
  known: [],
  ...changes,
});

const toRun = (job: string, date: string, changes: Partial<JobRun> = {}): JobRun =>
  toJobRun({
    job,
    dueSlot: date,
    localDate: date,
    dueAt: at(`${date}T02:00Z`),
    endedAt: at(`${date}T03:00Z`),
    ...changes,
  });

const left = { state: 'running', exitCode: null, endedAt: null } as const;

const decide = (
  status: JobStatus,
  now: string,
  { others = [], freeSince = null }: { freeSince?: Date | null; others?: readonly JobStatus[] } = {},
) => {
  const all = new Map([status, ...others].map((one) => [one.job, one]));
  const { decision, missed, givenUp } = decideDue(status, all, { now: at(now), freeSince });
  return {
    kind: decision.kind,
    ...(decision.kind === 'none' ? {} : { date: decision.due.localDate }),
    ...(decision.kind === 'begin' ? { isLate: decision.isLate } : {}),
    ...(decision.kind === 'wait' ? { for: decision.for } : {}),
    missed: missed.map(({ localDate }) => localDate),
    ...(givenUp ? { givenUp: givenUp.localDate } : {}),
  };
};

const nightly = (known: readonly JobRun[] = []) => toCurrent('rescreen', '0 2 * * *', { known });

it('is begun when it is due, and not before', () => {
  const known = [toRun('rescreen', '2026-11-21')];
  expect(decide(nightly(known), '2026-11-22T01:59:59Z')).toEqual({ kind: 'none', missed: [] });
  const begin = { kind: 'begin', date: '2026-11-22', isLate: false, missed: [] };
  expect(decide(nightly(known), '2026-11-22T02:00:00Z')).toEqual(begin);
});

it('a first start catches up nothing', () => {
  const status = toCurrent('rescreen', '0 2 * * *', { plannedSince: at('2026-11-22T03:00Z') });
  expect(decide(status, '2026-11-22T03:00:00Z')).toEqual({ kind: 'none', missed: [] });
});

it('of several nights that were missed the newest is caught up, late; the others are missed', () => {
  const known = [toRun('rescreen', '2026-11-18')];
  expect(decide(nightly(known), '2026-11-22T09:00Z')).toEqual({
    kind: 'begin',
    date: '2026-11-22',
    isLate: true,
    missed: ['2026-11-19', '2026-11-20', '2026-11-21'],
  });
});

it('a job that was kept but never ran is caught up as well', () => {
  const status = toCurrent('rescreen', '0 2 * * *', { plannedSince: at('2026-11-20T12:00Z') });
  const late = { kind: 'begin', date: '2026-11-22', isLate: true, missed: ['2026-11-21'] };
  expect(decide(status, '2026-11-22T09:00Z')).toEqual(late);
});

it('catching up has a bound of a week', () => {
  const monthly = toCurrent('rescreen', '0 2 15 * *');
  expect(decide(monthly, '2026-11-22T01:59Z')).toMatchObject({ kind: 'begin', isLate: true });
  expect(decide(monthly, '2026-11-22T02:01Z')).toEqual({ kind: 'none', missed: ['2026-11-15'] });
});

it('what had to wait for its turn in this process is neither late nor missed', () => {
  const known = [toRun('rescreen', '2026-11-21')];
  const rules = { freeSince: at('2026-11-22T08:59Z') };
  expect(decide(nightly(known), '2026-11-22T09:00Z', rules)).toMatchObject({ kind: 'begin', isLate: false });
});

it('what was done is not done again, also where its schedule has become a later one on that date', () => {
  const status = toCurrent('rescreen', '0 5 * * *', { known: [toRun('rescreen', '2026-11-22')] });
  expect(decide(status, '2026-11-22T05:00Z')).toEqual({ kind: 'none', missed: [] });
});

it.each(['finished', 'missed'] as const)('a date that is %s is settled', (state) => {
  const known = [toRun('rescreen', '2026-11-22', { state })];
  expect(decide(nightly(known), '2026-11-22T09:00Z')).toEqual({ kind: 'none', missed: [] });
});

it('what was left is taken up again, until something newer is due', () => {
  const known = [toRun('rescreen', '2026-11-22', left), toRun('rescreen', '2026-11-21')];
  expect(decide(nightly(known), '2026-11-22T12:00Z')).toMatchObject({ kind: 'begin', date: '2026-11-22', missed: [] });
  expect(decide(nightly(known), '2026-11-23T02:00Z')).toMatchObject({ kind: 'begin', date: '2026-11-23', missed: [] });
});

it('what never comes to its end is given up', () => {
  const known = [toRun('rescreen', '2026-11-22', { ...left, attempts: mostAttempts })];
  expect(decide(nightly(known), '2026-11-22T12:00Z')).toEqual({ kind: 'none', missed: [], givenUp: '2026-11-22' });
});

it('of what comes round all the time only the last is due, and nothing is missed', () => {
  const mail = toCurrent('mail', '*/15 * * * *');
  const { kind, missed } = decide(mail, '2026-11-22T12:10Z');
  expect({ kind, missed }).toEqual({ kind: 'begin', missed: [] });
  const { decision } = decideDue(mail, new Map(), { now: at('2026-11-22T12:10Z'), freeSince: null });
  expect(decision).toMatchObject({ due: { dueAt: at('2026-11-22T12:00Z') } });
});

const report = toCurrent('report', '0 6 * * *', { after: ['sweep', 'rescreen'] });

it('waits for the jobs before it on the same date, and goes on when they have failed', () => {
  const running = nightly([toRun('rescreen', '2026-11-22', left)]);
  const since = { ...report, plannedSince: at('2026-11-21T12:00Z') };
  const now = '2026-11-22T06:00Z';
  expect(decide(since, now, { others: [running] })).toMatchObject({ kind: 'wait', for: 'rescreen' });
  const failed = nightly([toRun('rescreen', '2026-11-22', { exitCode: 1, endedAt: at('2026-11-22T05:00Z') })]);
  expect(decide(since, now, { others: [failed] })).toMatchObject({ kind: 'begin', isLate: false });
  const yesterday = nightly([toRun('rescreen', '2026-11-21')]);
  expect(decide(since, now, { others: [yesterday] })).toMatchObject({ kind: 'wait', for: 'rescreen' });
});

it('waits no longer than it may, and neither for what is due too late nor for what was never planned that night', () => {
  const since = { ...report, plannedSince: at('2026-11-21T12:00Z') };
  const running = nightly([toRun('rescreen', '2026-11-22', left)]);
  expect(decide(since, '2026-11-22T11:59Z', { others: [running] })).toMatchObject({ kind: 'wait' });
  expect(decide(since, '2026-11-22T12:00Z', { others: [running] })).toMatchObject({ kind: 'begin', isLate: true });
  const shorter = { ...since, waitMs: 2 * 3_600_000 };
  expect(decide(shorter, '2026-11-22T07:59Z', { others: [running] })).toMatchObject({ kind: 'wait' });
  expect(decide(shorter, '2026-11-22T08:00Z', { others: [running] })).toMatchObject({ kind: 'begin' });
  const evening = toCurrent('rescreen', '0 22 * * *');
  expect(decide(since, '2026-11-22T06:00Z', { others: [evening] })).toMatchObject({ kind: 'begin' });
  const begunLater = { ...nightly(), plannedSince: at('2026-11-22T03:00Z') };
  expect(decide(since, '2026-11-22T06:00Z', { others: [begunLater] })).toMatchObject({ kind: 'begin' });
});

it('what begins when the job before it ends is not late', () => {
  const since = { ...report, plannedSince: at('2026-11-21T12:00Z') };
  const long = nightly([toRun('rescreen', '2026-11-22', { endedAt: at('2026-11-22T08:00Z') })]);
  expect(decide(since, '2026-11-22T08:00:15Z', { others: [long] })).toMatchObject({ kind: 'begin', isLate: false });
});

it('that this process ended a job by a clock that was ahead makes nothing seem in time', () => {
  const known = [toRun('rescreen', '2026-11-21')];
  const rules = { freeSince: at('2026-12-22T02:00Z') };
  expect(decide(nightly(known), '2026-11-22T09:00Z', rules)).toMatchObject({ kind: 'begin', isLate: true });
});

it('the next start leaves out what is done', () => {
  const startAt = (status: JobStatus, now: string) => findNextStart(status, at(now))?.dueAt.toISOString();
  expect(startAt(nightly(), '2026-11-22T01:00Z')).toBe('2026-11-22T02:00:00.000Z');
  expect(startAt(nightly([toRun('rescreen', '2026-11-22')]), '2026-11-22T01:00Z')).toBe('2026-11-23T02:00:00.000Z');
});

it('after a time that was begun early, what a more frequent schedule asks for until then is due', () => {
  const early = toRun('rescreen', '2026-11-23', { begunAt: at('2026-11-22T20:00Z'), endedAt: at('2026-11-22T20:30Z') });
  const hourly = toCurrent('rescreen', '0 * * * *', { known: [early] });
  expect(decide(hourly, '2026-11-22T21:01Z')).toMatchObject({ kind: 'begin', date: '2026-11-22' });
  const nightly = toCurrent('rescreen', '0 2 * * *', { known: [early] });
  expect(decide(nightly, '2026-11-23T02:01Z')).toMatchObject({ kind: 'none' });
});
