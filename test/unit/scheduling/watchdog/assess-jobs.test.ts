import { expect, it } from 'vitest';
import { assessJobs, type JobFacts } from '../../../../src/scheduling/watchdog/findings.js';
import type { Incident } from '../../../../src/store/operations/incidents.js';
import type { JobRun } from '../../../../src/store/operations/jobs.js';
import { toJobRun } from '../../../helpers/clocks.js';

const now = new Date('2026-03-10T08:00:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

const run = (facts: Partial<JobRun>): JobRun => toJobRun({ job: 'report', dueAt: ago(2), endedAt: ago(1), ...facts });
const running = run({
  jobRunId: 2,
  state: 'running',
  endedAt: null,
  exitCode: null,
  dueAt: ago(0.5),
  begunAt: ago(0.5),
});
const job = (runs: readonly JobRun[], facts: Partial<JobFacts> = {}): JobFacts => ({
  job: runs[0]?.job ?? 'report',
  runs,
  silentMs: null,
  doneAt: null,
  start: null,
  ...facts,
});
const reported = (facts: Partial<Incident> = {}): Incident => ({
  incidentId: 1,
  kind: 'job_failed',
  subject: 'report',
  roster: null,
  reason: 'as told',
  mark: 'told',
  runId: null,
  openedAt: ago(20),
  reportedAt: ago(20),
  timesReported: 1,
  recoveredAt: null,
  ...facts,
});
const kinds = (facts: JobFacts, open: readonly Incident[] = []): readonly string[] =>
  assessJobs([facts], open, now).map(({ kind }) => kind);

it.each([
  ['report', 'finished', 0, [], 0],
  ['report', 'finished', 1, [], 1],
  ['report', 'finished', 2, [], 1],
  // It makes no run that could say so.
  ['report', 'finished', 3, [], 1],
  ['report', 'finished', 4, [], 1],
  ['onboard', 'finished', 3, ['run-3'], 0],
  ['onboard', 'finished', 4, ['run-3'], 1],
  // Its runs are judged by themselves.
  ['rescreen', 'finished', 3, ['run-3'], 0],
  ['rescreen', 'finished', 4, ['run-3'], 0],
  ['rescreen', 'finished', 3, [], 1],
  ['report', 'missed', null, [], 1],
  ['report', 'interrupted', null, [], 0],
] as const)(
  'a job %s that is %s with exit code %s and the runs %j gives %i findings',
  (name, state, exitCode, runIds, count) => {
    expect(kinds(job([run({ job: name, state, exitCode, runIds: [...runIds] })]))).toHaveLength(count);
  },
);

it('a job that failed says how to run it again, where that would', () => {
  const actions = (exitCode: number): string =>
    assessJobs([job([run({ exitCode })])], [], now)
      .flatMap((finding) => finding.actions)
      .join('\n');
  expect(actions(1)).toContain('nightscreen schedule run report');
  expect(actions(3)).not.toContain('schedule run');
});

it('while a job is under way, what was told of it stands, and how it ended before is judged', () => {
  const failed = run({ dueAt: ago(26), endedAt: ago(25), exitCode: 1 });
  expect(assessJobs([job([running, failed])], [reported()], now)).toMatchObject([{ kind: 'job_failed', mark: 'told' }]);
  expect(kinds(job([running, failed]))).toEqual(['job_failed']);
  // Begun again for the same date, so that only the date before has an end.
  expect(kinds(job([running, run({ dueAt: ago(26), endedAt: ago(25) })]), [reported()])).toEqual(['job_failed']);
  expect(kinds(job([run({}), failed]), [reported()])).toEqual([]);
});

it('a job whose process has ended without a word is left, unless runs say so', () => {
  expect(assessJobs([job([running], { silentMs: 600_000 })], [], now)[0]?.reason).toContain(
    'was interrupted: the last sign of its process',
  );
  expect(kinds(job([running], { silentMs: 599_999 }))).toEqual([]);
  expect(kinds(job([{ ...running, job: 'rescreen' }], { silentMs: 600_000 }))).toEqual([]);
});

it('a failed job is over when its work has been begun since and has ended, by whatever command', () => {
  const failed = run({ job: 'rescreen', exitCode: 1, endedAt: ago(1) });
  expect(kinds(job([failed], { doneAt: ago(2) }))).toEqual(['job_failed']);
  expect(kinds(job([failed], { doneAt: ago(0.5) }))).toEqual([]);
  const missed = run({
    job: 'rescreen',
    state: 'missed',
    dueAt: ago(5),
    begunAt: null,
    endedAt: ago(1),
    exitCode: null,
  });
  expect(kinds(job([missed], { doneAt: ago(4) }))).toEqual([]);
});

it('nights that a newer one has overtaken are told for a day, in the same words before and after it has ended', () => {
  const missed = (date: string): JobRun =>
    run({
      job: 'rescreen',
      dueSlot: date,
      state: 'missed',
      because: 'nobody',
      begunAt: null,
      endedAt: ago(3),
      exitCode: null,
    });
  const nights = [missed('2026-03-09'), missed('2026-03-08')];
  const assessed = (newest: JobRun, at = now) =>
    assessJobs([job([{ ...newest, job: 'rescreen' }, ...nights], { doneAt: ago(1) })], [], at);
  const [meanwhile] = assessed(running);
  expect(meanwhile).toMatchObject({
    kind: 'job_failed',
    reason: expect.stringContaining('nobody, as 1 time before it'),
  });
  expect(assessed(run({}))).toEqual([meanwhile]);
  expect(assessed(run({}), new Date(now.getTime() + 22 * 3_600_000))).toEqual([]);
});

it('a planned job that nobody began did not run, until it is begun', () => {
  const expected = { since: ago(3), waitsUntil: ago(-3), because: 'it was due' };
  const former = run({ dueAt: ago(26), endedAt: ago(25) });
  const missing = reported({ kind: 'did_not_run', openedAt: ago(1) });
  const late = { start: { expected, isWaiting: false } };
  const waiting = { start: { expected, isWaiting: true } };
  expect(kinds(job([former], late))).toEqual(['did_not_run']);
  expect(kinds(job([], late))).toEqual(['did_not_run']);
  expect(assessJobs([job([], late)], [], now)[0]?.actions.at(-1)).toContain('write "report: off" below jobs');
  expect(kinds(job([former], waiting))).toEqual([]);
  expect(kinds(job([former], waiting), [missing])).toEqual(['did_not_run']);
  expect(kinds(job([former], { start: { expected: null, isWaiting: false } }), [missing])).toEqual(['did_not_run']);
  expect(kinds(job([run({}), former], late), [missing])).toEqual([]);
  // A timer begins it now.
  expect(kinds(job([former]), [missing])).toEqual([]);
});

it('a job that exceeds its timeout is stuck although its process lives; the alarm names the job, its host and what to type', () => {
  const overdue = run({ job: 'copy', state: 'running', endedAt: null, exitCode: null, deadlineAt: ago(0.1) });
  const [stuck] = assessJobs([job([overdue])], [], now);
  expect(stuck).toMatchObject({ kind: 'job_stuck', subject: 'copy' });
  expect(stuck?.reason).toMatch(
    /^the job copy .* is stuck on the host host \(process host:1:abcd\): it has exceeded its timeout/,
  );
  expect(stuck?.actions.join()).toContain('nightscreen schedule cancel copy');
  expect(kinds(job([{ ...overdue, deadlineAt: ago(-0.1) }]))).toEqual([]);
  const left = run({ job: 'copy', exitCode: 1, isTimedOut: true, because: 'it exceeded its timeout of 1h' });
  expect(kinds(job([left]))).toEqual(['job_stuck']);
  expect(
    kinds(job([run({ job: 'copy', dueAt: ago(1) }), left]), [reported({ kind: 'job_stuck', subject: 'copy' })]),
  ).toEqual([]);
});
