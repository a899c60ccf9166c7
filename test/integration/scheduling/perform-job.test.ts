import { expect, it } from 'vitest';
import { NightError } from '../../../jobs/rescreen.js';
import { logSchedule } from '../../../src/cli/schedule/keep-schedule.js';
import { performJob } from '../../../src/cli/schedule/run-scheduled.js';
import { AuthenticationError, NotStartedError, RosterError } from '../../../src/errors.js';
import { createLogger } from '../../../src/logging.js';
import type { Job } from '../../../src/runs/app-context.js';
import type { RunSummary } from '../../../src/runs/run-summary.js';
import { DatabaseError } from '../../../src/store/database/database.js';
import type { RunState } from '../../../src/vocabulary.js';
import { toJobRun } from '../../helpers/clocks.js';
import { testDatabases } from '../../helpers/databases.js';
import { buildCounts } from '../../helpers/run-facts.js';
import { makeAppContext } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const silent = createLogger({ level: 'silent', secrets: [], write: () => {} });
const moment = new Date('2026-11-22T02:00:00Z');
const run = toJobRun({
  dueSlot: '2026-11-22',
  localDate: '2026-11-22',
  dueAt: moment,
  state: 'running',
  endedAt: null,
  exitCode: null,
});

const gone = new DatabaseError('the database went away', { sqlState: undefined, constraint: undefined });
const noFile = new RosterError('roster_missing', 'no file');
const call = { method: 'POST', path: '/aml/search', status: 401 };
const refused = new AuthenticationError('authentication_error', 'the key was refused', call);

const toSummary = (roster: string, state: RunState, exitCode: number): RunSummary => ({
  schema: 'nightscreen/run-summary/1',
  runId: `2026-11-22-rescreen-${roster}`,
  roster,
  kind: 'rescreen',
  state,
  exitCode,
  reasons: [],
  haltedBy: null,
  artifacts: null,
  counts: buildCounts(),
});
const complete = toSummary('a', 'complete', 0);
const stopped = toSummary('b', 'stopped', 4);

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
  const options = { stopping: signal, logger: silent };
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
    const options = { stopping: signal, logger };
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
