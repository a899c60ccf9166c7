import { expect, it } from 'vitest';
import { NightError } from '../../../jobs/rescreen.js';
import { logSchedule } from '../../../src/cli/schedule/keep-schedule.js';
import { presentSchedule, showSchedule } from '../../../src/cli/schedule/plan-schedule.js';
import { performJob, runForNow } from '../../../src/cli/schedule/run-scheduled.js';
import { AuthenticationError, NotStartedError, RosterError } from '../../../src/errors.js';
import { createLogger } from '../../../src/logging.js';
import type { Job } from '../../../src/runs/app-context.js';
import type { RunSummary } from '../../../src/runs/run-summary.js';
import { keepSchedules } from '../../../src/runs/scheduled.js';
import type { PlannedJob, SchedulePlan } from '../../../src/scheduling/schedule.js';
import { DatabaseError } from '../../../src/store/database/database.js';
import { beginJobRun, endJobRun, type JobEnding, type JobRun, noteMissedJob } from '../../../src/store/jobs.js';
import type { RunState } from '../../../src/vocabulary.js';
import { makeFakeClock } from '../../helpers/clocks.js';
import { testDatabases } from '../../helpers/databases.js';
import { buildCounts } from '../../helpers/run-facts.js';
import { makeAppContext } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const silent = createLogger({ level: 'silent', secrets: [], write: () => {} });
const moment = new Date('2026-11-22T02:00:00Z');
const run: JobRun = {
  ...{ jobRunId: 1, job: 'rescreen', dueSlot: '2026-11-22', localDate: '2026-11-22', dueAt: moment, state: 'running' },
  ...{ isLate: false, attempts: 1, owner: 'host:1:a', begunAt: moment, endedAt: null, exitCode: null, because: null },
  runIds: [],
  attemptAt: null,
  deadlineAt: null,
  isTimedOut: false,
  cancelledBy: null,
};

const gone = new DatabaseError('the database went away', { sqlState: undefined, constraint: undefined });
const noFile = new RosterError('roster_missing', 'no file');
const call = { method: 'POST', path: '/aml/search', status: 401 };
const refused = new AuthenticationError('authentication_error', 'the key was refused', call);

const toSummary = (roster: string, state: RunState, exitCode: number): RunSummary => ({
  schema: 'nightscreen/run-summary/1',
  ...{ runId: `2026-11-22-rescreen-${roster}`, roster, kind: 'rescreen', state, exitCode },
  ...{ reasons: [], haltedBy: null, artifacts: null, counts: buildCounts() },
});
const complete = toSummary('a', 'complete', 0);
const stopped = toSummary('b', 'stopped', 4);

const nothingPlanned = { planned: [], timeoutMs: 43_200_000 };

/** How a night ends in which these rosters have a run, and those have not. */
async function end(summaries: RunSummary[], ...errors: readonly unknown[]): Promise<number | 'taken up again'> {
  const database = await databases.open();
  const app = await makeAppContext(database, { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_none' });
  const failures = errors.map((error, index) => ({ roster: `roster ${index}`, runId: null, error }));
  const job: Job = {
    name: 'rescreen',
    defaultCron: 'off',
    run: () => Promise.reject(new NightError({ summaries, failures })),
  };
  const { signal } = new AbortController();
  const options = { plan: nothingPlanned, stopping: signal, logger: silent };
  const { exitCode } = await performJob(app, job, run, signal, options);
  return exitCode ?? 'taken up again';
}

it('a night is taken up again when the database went away, whatever became of other rosters', async () => {
  expect(await end([], gone)).toBe('taken up again');
  expect(await end([complete], gone)).toBe('taken up again');
  expect(await end([complete], noFile, gone)).toBe('taken up again');
});

it('a night is over when nothing of it passes by itself, or when trying again could only stop it once more', async () => {
  expect(await end([complete], noFile)).toBe(3);
  expect(await end([complete], gone, refused)).toBe(1);
  expect(await end([complete, stopped], gone)).toBe(1);
});

it('what failed is logged with its run and roster: of a night for each roster, those that were not begun too', async () => {
  const database = await databases.open();
  const app = await makeAppContext(database, { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_none' });
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', secrets: [], write: (line) => lines.push(line) });
  const { signal } = new AbortController();
  const perform = async (name: string, work: Job['run']): Promise<unknown[]> => {
    lines.length = 0;
    const options = { plan: nothingPlanned, stopping: signal, logger };
    await performJob(app, { name, defaultCron: 'off', run: work }, run, signal, options);
    return lines.map((line) => JSON.parse(line));
  };
  const failures = [
    { roster: 'b', runId: 'run-7', error: refused },
    { roster: 'c', runId: null, error: new NotStartedError('it was not begun') },
  ];
  const line = { level: 'error', msg: 'job_failed', job: 'rescreen' };
  expect(await perform('rescreen', () => Promise.reject(new NightError({ summaries: [complete], failures })))).toEqual([
    expect.objectContaining({ ...line, runId: 'run-7', roster: 'b' }),
    expect.objectContaining({ ...line, roster: 'c', err: expect.objectContaining({ code: 'not_started' }) }),
  ]);
  const lost = await perform('own', async ({ emit }) => {
    emit({ kind: 'run_started', runId: 'run-8', runKind: 'screen', roster: 'd', resumed: false });
    throw gone;
  });
  expect(lost).toMatchObject([{ msg: 'job_failed', job: 'own', runId: 'run-8', roster: 'd' }]);
});

const night = (job: string, cron: string, after: readonly string[] = []): PlannedJob => ({
  job: { name: job, defaultCron: 'off', after, run: async () => ({ runs: [] }) },
  schedule: { cron, timezone: 'UTC' },
});
const sweep = night('sweep', '0 1 * * *');
const rescreen = night('rescreen', '0 2 * * *');
const report = night('report', '0 6 * * *', ['sweep', 'rescreen']);

/** A site at seven, where the schedule is kept since the day before; `finish` and `miss` note what became of that night. */
async function openNight(planned: readonly PlannedJob[] = [sweep, rescreen, report]) {
  const database = await databases.open();
  const sandbox = { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_none' };
  const clock = makeFakeClock(Date.UTC(2026, 10, 21, 12));
  const app = await makeAppContext(database, sandbox, { clock });
  const schedules = planned.map(({ job, schedule }) => ({ job: job.name, schedule }));
  await keepSchedules(app, schedules, { areAll: true });
  await clock.advance(19 * 3_600_000);
  const toDue = (hour: number) => ({
    ...{ dueSlot: '2026-11-22', localDate: '2026-11-22' },
    dueAt: new Date(Date.UTC(2026, 10, 22, hour)),
  });
  const begin = (job: string, hour: number) =>
    beginJobRun(database, 1, {
      ...toDue(hour),
      job,
      owner: 'host:1:a',
      now: clock.now(),
      isLate: false,
      again: [],
      timeoutMs: 60_000,
    });
  const plan: SchedulePlan = { planned, timeoutMs: 43_200_000 };
  return {
    app,
    plan,
    begin,
    finish: async (job: string, hour: number, ending: JobEnding) =>
      endJobRun(database, (await begin(job, hour))?.jobRunId ?? 0, ending, clock.now()),
    miss: (job: string, hour: number) =>
      noteMissedJob(database, 1, job, toDue(hour), { now: clock.now(), because: 'nothing was there' }),
    show: async () => presentSchedule(await showSchedule(app, plan), true, null).text ?? '',
    runReport: (work: Job['run'] = report.job.run) => {
      const { signal } = new AbortController();
      const job = { ...report.job, run: work };
      return runForNow(app, plan, job, silent, signal);
    },
  };
}

it('a report names the jobs before it that failed or were missed, with their runs, wherever its outcome is told', async () => {
  const { finish, miss, runReport, show } = await openNight();
  const runIds = ['2026-11-22-rescreen-61', '2026-11-22-rescreen-62'];
  await miss('sweep', 1);
  await finish('rescreen', 2, { exitCode: 3, because: '2026-11-22-rescreen-61: 2 customers failed', runIds });
  const said =
    'not all jobs before report are complete: sweep of 2026-11-22 was missed; rescreen of 2026-11-22 ended with exit code 3 (2026-11-22-rescreen-61, 2026-11-22-rescreen-62)';
  const outcome = await runReport();
  expect(outcome).toMatchObject({ exitCode: 0, document: { outcome: 'ended', because: said } });
  expect(outcome.text).toBe(`report of 2026-11-22 ended with exit code 0: ${said}\n`);
  expect(await show()).toContain(`\nreport of 2026-11-22: ${said}\n`);
  const again = (await runReport()).text ?? '';
  expect(again).toMatch(/^report of 2026-11-22 is done already: by .* with exit code 0: /);
  expect(again).toContain(said);
});

it('a report that cannot be made itself says both, and why a job before it has no run', async () => {
  const { begin, finish, runReport } = await openNight();
  await finish('rescreen', 2, { exitCode: 1, because: 'retail: no file at retail.csv', runIds: [] });
  await begin('sweep', 1);
  const { exitCode, document } = await runReport(() => Promise.reject(noFile));
  expect(exitCode).toBe(2);
  expect(document['because']).toBe(
    'no file; not all jobs before report are complete: sweep of 2026-11-22 has not ended, started by host:1:a; rescreen of 2026-11-22 ended with exit code 1, without a run: retail: no file at retail.csv',
  );
});

it('what has not begun or was interrupted is named, and nothing that is not planned, not due yet or complete', async () => {
  const interrupted = await openNight();
  await interrupted.finish('rescreen', 2, { because: 'it was asked to stop', runIds: ['2026-11-22-rescreen-61'] });
  expect((await interrupted.runReport()).document['because']).toBe(
    'not all jobs before report are complete: sweep of 2026-11-22 has not started; rescreen of 2026-11-22 was interrupted and is not done (2026-11-22-rescreen-61)',
  );
  const later = await openNight([night('rescreen', '0 22 * * *'), report]);
  expect((await later.runReport()).document['because']).toBeNull();
  const complete = await openNight();
  for (const [job, hour] of [
    ['sweep', 1],
    ['rescreen', 2],
  ] as const) {
    await complete.finish(job, hour, { exitCode: 0, because: null, runIds: [] });
  }
  expect((await complete.runReport()).document['because']).toBeNull();
});

it('a scheduler logs as a warning that a report went out without what comes before it', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', secrets: [], write: (line) => lines.push(line) });
  const ended = { kind: 'ended', run: { ...run, job: 'report' }, exitCode: 0, runIds: [] } as const;
  logSchedule(logger)({ ...ended, because: 'sweep of 2026-11-22 was missed' });
  logSchedule(logger)({ ...ended, because: null });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'job_finished: with a remark', because: 'sweep of 2026-11-22 was missed' },
    { level: 'info', msg: 'job_finished' },
  ]);
});
