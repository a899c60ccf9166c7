import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keepSchedules } from '../../src/runs/scheduled.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { collect, runInProcess, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { makeAppContext, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
let folder: string;
let location: DatabaseLocation;
let environment: Record<string, string>;

const toCron = (due: Date): string => `${due.getUTCSeconds()} ${due.getUTCMinutes()} * * * *`;

/** Writes a configuration in which this job alone is planned; without rosters a rescreening ends at once, with exit code 3. */
function configure(jobs: string, rosters = ''): void {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), `jobs: { sweep: off, report: off, ${jobs} }\n${rosters}`);
}

/** Keeps the schedule of the rescreening as a scheduler did that was there a minute ago. */
async function planBefore(cron: string): Promise<void> {
  const before = await makeAppContext(await databases.open(location), sandbox, { offsetMs: -60_000 });
  await keepSchedules(before, [{ job: 'rescreen', schedule: { cron, timezone: 'UTC' } }], { areAll: false });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-schedule-'));
  writeFileSync(join(folder, 'people.csv'), toCsv(['Ann Example', 'Bob Example', 'Cee Example']));
  location = await databases.locate();
  environment = {
    DATABASE_URL: location.url ?? '',
    NIGHTSCREEN_BASE_URL: sandbox.url,
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
  };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await sandbox.close();
});

const cli = (...words: string[]) => runInProcess(words, { folder, environment });

/** A scheduler in a process of its own, which is stopped by `kill`. */
function startScheduler() {
  const child = startCli(['schedule'], { folder, environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  const stderr = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  return {
    waitFor: async (sign: RegExp): Promise<void> => {
      for (let round = 0; round < 1_800 && !sign.test(stderr.text()) && child.exitCode === null; round += 1)
        await delay(50);
      expect(stderr.text()).toMatch(sign);
    },
    stop: async (): Promise<unknown> => {
      child.kill('SIGTERM');
      const [exitCode] = await closed;
      return exitCode;
    },
  };
}

test('a job runs once for its date, one-shot, and its outcome is shown', async () => {
  configure('rescreen: "0 0 * * *"');
  const early = await cli('schedule', 'run', 'rescreen', '--if-due');
  expect(early).toMatchObject({ exitCode: 0 });
  expect(early.stdout).toMatch(/^rescreen is not due; next \d{4}-/);
  const first = await cli('schedule', 'run', 'rescreen', '--json');
  expect(first.exitCode).toBe(3);
  const document = JSON.parse(first.stdout);
  expect(document).toMatchObject({ schema: 'nightscreen/job-run/1', outcome: 'ended', exitCode: 3, attempts: 1 });
  const second = await cli('schedule', 'run', 'rescreen');
  expect(second.exitCode).toBe(3);
  expect(second.stdout).toMatch(/is done already: by .* with exit code 3/);
  const shown = await cli('schedule', 'show');
  expect(shown.stdout).toMatch(/^rescreen +0 0 \* \* \* +UTC .*finished with problems \(3\)/m);
  expect(shown.stdout).toContain('no roster is configured, so no customer was screened');
  const unknown = await cli('schedule', 'run', 'notes');
  expect(unknown).toMatchObject({ exitCode: 2 });
  expect(unknown.stderr).toContain('there are rescreen, sweep, report, onboard, mail, reconcile, dirty');
}, 60_000);

test('the scheduler runs what comes due, says how it ended, and ends with 0 on a signal', async () => {
  // Due once, in a few seconds, and planned before: whether the process is there by then or later, it is run once, and nothing else is
  // under way when the signal comes.
  const due = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 2_000);
  configure(`rescreen: "${toCron(due)}"`);
  await planBefore(toCron(due));
  const scheduler = startScheduler();
  await scheduler.waitFor(/"job":"rescreen".*"exitCode":3.*job_finished: with problems/);
  expect(await scheduler.stop()).toBe(0);
  const shown = JSON.parse((await cli('schedule', 'show', '--json')).stdout);
  const [rescreen] = shown.jobs.filter((one: { job: string }) => one.job === 'rescreen');
  expect(rescreen.runs[0]).toMatchObject({ state: 'finished', exitCode: 3, attempts: 1, dueAt: due.toISOString() });
  expect(Date.parse(rescreen.next) - due.getTime()).toBe(3_600_000);
}, 150_000);

test('the schedule is paused and resumed, with who, until when and why', async () => {
  configure('rescreen: "0 0 * * *"', 'rosters: [{ name: people, csv: { path: people.csv } }]\n');
  const paused = await cli('schedule', 'pause', '--until', '2h', '--reason', 'database moves');
  expect(paused).toMatchObject({ exitCode: 0 });
  const words = /the schedule is paused until \d{4}-\S+ \S+ UTC by \S+ \(database moves\): no job starts/;
  expect(paused.stdout).toMatch(words);
  const places = [
    ['schedule', 'show'],
    ['schedule', 'watchdog'],
  ];
  for (const where of places) expect((await cli(...where)).stdout).toMatch(words);
  const { stdout } = await cli('schedule', 'show', '--json');
  expect(JSON.parse(stdout).pause).toMatchObject({ reason: 'database moves', by: expect.stringMatching(/./) });
  const again = await cli('schedule', 'run', 'rescreen', '--if-due');
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(words) });

  const tooLong = await cli('schedule', 'pause', '--until', '8d');
  expect(tooLong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('within the next 7 days') });
  const resumed = await cli('schedule', 'pause', '--until', 'now');
  expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the schedule is resumed') });
  expect((await cli('schedule', 'pause', '--until', 'now')).stdout).toBe('the schedule is not paused\n');
  for (const where of places) expect((await cli(...where)).stdout).not.toContain('paused');
}, 60_000);

test('a job is cancelled from another process', async () => {
  // Later than the slot that a test above has run.
  const due = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 2_000);
  configure(`rescreen: "${toCron(due)}"`, 'rosters: [{ name: people, csv: { path: people.csv } }]\n');
  await planBefore(toCron(due));
  for (const job of ['rescreen', 'nobody']) {
    const none = await cli('schedule', 'cancel', job);
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`the job ${job} is not running`) });
  }
  sandbox.setFaults([{ path: '/aml/search', times: 1_000, delayMs: 60_000 }]);
  const scheduler = startScheduler();
  await scheduler.waitFor(/"job":"rescreen".*job_started/);
  const cancelled = await cli('schedule', 'cancel', 'rescreen');
  expect(cancelled).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ends rescreen of \d{4}-/) });
  await scheduler.waitFor(/"job":"rescreen".*job_finished/);
  const shown = await cli('schedule', 'show');
  expect(shown.stdout).toMatch(/^rescreen .*stopped early \(4\)/m);
  expect(shown.stdout).toMatch(/^rescreen of \S+: it was cancelled by /m);
  expect(await scheduler.stop()).toBe(0);
});
