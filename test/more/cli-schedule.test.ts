import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keepSchedules } from '../../src/runs/scheduled.js';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { collect, runInProcess, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { makeAppContext } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
let folder: string;
let location: DatabaseLocation;
let environment: Record<string, string>;

const toJob = (name: string): string => `import { appendFileSync } from 'node:fs';
export default {
  name: '${name}',
  after: ['report'],
  async run({ date, attempt, reportsFolder, query }, signal) {
    const [{ count }] = await query('select count(*)::integer as count from job_run where job = $1', ['${name}']);
    appendFileSync(${JSON.stringify(join(folder, `${name}.txt`))}, \`\${date} attempt \${attempt}, \${count} known\\n\`);
    return { exitCode: 3, note: reportsFolder.endsWith('reports') ? 'two files could not be copied' : 'wrong folder' };
  },
};
`;
const configuration = (cron: string, ...jobs: readonly string[]) => `scheduler: { jobsFolder: own-jobs, jitter: 0s }
jobs:
${jobs.map((job) => `  ${job}: { cron: "${cron}", timezone: UTC }`).join('\n')}
  sweep: { enabled: false }
  rescreen: { enabled: false }
  report: { enabled: false }
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-schedule-'));
  mkdirSync(join(folder, 'own-jobs'));
  writeFileSync(join(folder, 'own-jobs', 'note.mjs'), toJob('note'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration('0 2 * * *', 'note'));
  location = await databases.locate();
  environment = {
    ...{ DATABASE_URL: location.url ?? '', NIGHTSCREEN_BASE_URL: 'http://127.0.0.1:9/v1' },
    NIGHTSCREEN_API_KEY: 'private_sandbox_Pl4ntedKeyPl4nted',
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

const cli = (...words: string[]) => runInProcess(words, { folder, environment });

test('a job of one’s own runs once for its date, one-shot, and its outcome is shown', async () => {
  const early = await cli('schedule', 'run', 'note', '--if-due');
  expect(early).toMatchObject({ exitCode: 0 });
  expect(early.stdout).toMatch(/^note is not due; next \d{4}-/);
  const first = await cli('schedule', 'run', 'note', '--json');
  expect(first.exitCode).toBe(3);
  const document = JSON.parse(first.stdout);
  expect(document).toMatchObject({ schema: 'nightscreen/job-run/1', outcome: 'ended', exitCode: 3, attempts: 1 });
  const second = await cli('schedule', 'run', 'note');
  expect(second.exitCode).toBe(3);
  expect(second.stdout).toMatch(/is done already: by .* with exit code 3/);
  expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe(`${document.date} attempt 1, 1 known\n`);
  const shown = await cli('schedule', 'show');
  expect(shown.stdout).toMatch(/^note +0 2 \* \* \* +UTC .*finished with problems \(3\)/m);
  expect(shown.stdout).toContain('two files could not be copied');
  expect(shown.stdout).toContain('no roster is configured');
}, 60_000);

test('an unknown job and a bad file are refused with what there is', async () => {
  const unknown = await cli('schedule', 'run', 'notes');
  expect(unknown).toMatchObject({ exitCode: 2 });
  expect(unknown.stderr).toContain('there are rescreen, sweep, report, onboard, mail, reconcile, dirty, note');
  writeFileSync(join(folder, 'own-jobs', 'bad.mjs'), "export default { name: 'bad' };");
  const bad = await cli('schedule', 'show');
  rmSync(join(folder, 'own-jobs', 'bad.mjs'));
  expect(bad).toMatchObject({ exitCode: 2 });
  expect(bad.stderr).toMatch(/own-jobs\/bad\.mjs.*run: must be a function/);
}, 60_000);

const toCron = (due: Date): string => `${due.getUTCSeconds()} ${due.getUTCMinutes()} * * * *`;

/** Keeps the schedules as a scheduler did that was there a minute ago. */
async function planBefore(cron: string, ...jobs: readonly string[]): Promise<void> {
  const service = { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_Pl4ntedKeyPl4nted' };
  const before = await makeAppContext(await databases.open(location), service, { offsetMs: -60_000 });
  const schedules = jobs.map((job) => ({ job, schedule: { cron, timezone: 'UTC' } }));
  await keepSchedules(before, schedules, { areAll: false });
}

test('the scheduler runs what comes due, says how it ended, and ends with 0 on a signal', async () => {
  // Due once, in a few seconds, and planned before: whether the process is there by then or later, it is run once, and nothing else is
  // under way when the signal comes.
  const due = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 2_000);
  const cron = toCron(due);
  writeFileSync(join(folder, 'own-jobs', 'strike.mjs'), toJob('strike'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration(cron, 'strike'));
  await planBefore(cron, 'strike');

  const child = startCli(['schedule'], { folder, environment });
  const stderr = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  const isOver = (): boolean => /job_finished/.test(stderr.text()) || child.exitCode !== null;
  for (let round = 0; round < 1_800 && !isOver(); round += 1) await delay(50);
  child.kill('SIGTERM');
  const [exitCode] = await closed;
  expect(stderr.text()).toMatch(/"job":"strike".*"exitCode":3.*job_finished: with problems/);
  expect(exitCode).toBe(0);
  const shown = JSON.parse((await cli('schedule', 'show', '--json')).stdout);
  const [strike] = shown.jobs.filter((one: { job: string }) => one.job === 'strike');
  expect(strike.runs).toEqual([
    expect.objectContaining({ state: 'finished', exitCode: 3, attempts: 1, dueAt: due.toISOString() }),
  ]);
  expect(Date.parse(strike.next) - due.getTime()).toBe(3_600_000);
}, 150_000);

test('the schedule is paused and resumed, with who, until when and why', async () => {
  const rosters = 'rosters: [{ name: people, csv: { path: people.csv } }]\n';
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration('0 2 * * *', 'note') + rosters);
  const paused = await cli('schedule', 'pause', '--until', '2h', '--reason', 'database moves');
  expect(paused).toMatchObject({ exitCode: 0 });
  const words = /the schedule is paused until \d{4}-\S+ \S+ UTC by \S+ \(database moves\): no job starts/;
  expect(paused.stdout).toMatch(words);
  for (const where of [
    ['schedule', 'show'],
    ['schedule', 'watchdog'],
  ])
    expect((await cli(...where)).stdout).toMatch(words);
  const { stdout } = await cli('schedule', 'show', '--json');
  expect(JSON.parse(stdout).pause).toMatchObject({ reason: 'database moves', by: expect.stringMatching(/./) });
  const again = await cli('schedule', 'run', 'note', '--if-due');
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(words) });

  const tooLong = await cli('schedule', 'pause', '--until', '8d');
  expect(tooLong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('within the next 7 days') });
  const resumed = await cli('schedule', 'resume');
  expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the schedule is resumed') });
  expect((await cli('schedule', 'resume')).stdout).toBe('the schedule is not paused\n');
  for (const where of [
    ['schedule', 'show'],
    ['schedule', 'watchdog'],
  ]) {
    expect((await cli(...where)).stdout).not.toContain('paused');
  }
}, 60_000);

const toLastingJob = (name: string, work: string): string =>
  `export default { name: '${name}', run: (context, signal) => new Promise((resolve) => { ${work} }) };`;

test('a job is cancelled from another process, and one that ignores its signal does not keep the scheduler', async () => {
  const due = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 1_000);
  const own = join(folder, 'own-jobs');
  writeFileSync(join(own, 'heedful.mjs'), toLastingJob('heedful', `signal.onabort = () => resolve({ exitCode: 0 });`));
  writeFileSync(join(own, 'deaf.mjs'), toLastingJob('deaf', 'setInterval(() => {}, 1e6);'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration(toCron(due), 'heedful', 'deaf'));
  await planBefore(toCron(due), 'heedful', 'deaf');
  for (const job of ['heedful', 'nobody']) {
    const none = await cli('schedule', 'cancel', job);
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`the job ${job} is not running`) });
  }

  const child = startCli(['schedule'], { folder, environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  const stderr = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  const waitFor = async (sign: RegExp): Promise<void> => {
    for (let round = 0; round < 300 && !sign.test(stderr.text()) && child.exitCode === null; round += 1)
      await delay(50);
    expect(stderr.text()).toMatch(sign);
  };
  await waitFor(/"job":"heedful".*job_started/);
  await waitFor(/"job":"deaf".*job_started/);
  const cancelled = await cli('schedule', 'cancel', 'heedful');
  expect(cancelled).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ends heedful of \d{4}-/) });
  await waitFor(/"job":"heedful".*job_finished/);
  const shown = await cli('schedule', 'show');
  expect(shown.stdout).toMatch(/^heedful .*stopped early \(4\)/m);
  expect(shown.stdout).toMatch(/^heedful of \S+: it was cancelled by /m);

  const askedMs = performance.now();
  child.kill('SIGTERM');
  const [exitCode] = await closed;
  expect(performance.now() - askedMs).toBeLessThan(8_000);
  expect(exitCode).toBe(4);
  expect(stderr.text()).toMatch(/"job":"deaf".*it was asked to stop, and ignored its signal/);
}, 90_000);
