import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collect, runCli, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';

const databases = testDatabases('postgres');
let folder: string;
let environment: Record<string, string>;

const job = `import { appendFileSync } from 'node:fs';
export default {
  name: 'note',
  after: ['report'],
  async run({ date, attempt, reportsFolder, query }, signal) {
    const [{ count }] = await query('select count(*)::integer as count from job_run where job = $1', ['note']);
    appendFileSync('noted.txt', \`\${date} attempt \${attempt}, \${count} known\\n\`);
    return { exitCode: 3, note: reportsFolder.endsWith('reports') ? 'two files could not be copied' : 'wrong folder' };
  },
};
`;
const configuration = (cron: string) => `scheduler: { jobsFolder: own-jobs, jitter: 0s }
jobs:
  note: { cron: "${cron}" }
  sweep: { enabled: false }
  rescreen: { enabled: false }
  report: { enabled: false }
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-schedule-'));
  mkdirSync(join(folder, 'own-jobs'));
  writeFileSync(join(folder, 'own-jobs', 'note.mjs'), job);
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration('0 2 * * *'));
  const { url = '' } = await databases.locate();
  environment = {
    ...{ DATABASE_URL: url, NIGHTSCREEN_BASE_URL: 'http://127.0.0.1:9/v1' },
    NIGHTSCREEN_API_KEY: 'private_sandbox_Pl4ntedKeyPl4nted',
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

const cli = (...words: string[]) => runCli(words, { folder, environment });

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
  expect(second.stdout).toMatch(/was done by .* with exit code 3/);
  expect(readFileSync(join(folder, 'noted.txt'), 'utf8')).toBe(`${document.date} attempt 1, 1 known\n`);
  const shown = await cli('schedule', 'show');
  expect(shown.stdout).toMatch(/^note +0 2 \* \* \* +UTC .*not all is well \(3\)/m);
  expect(shown.stdout).toContain('two files could not be copied');
  expect(shown.stdout).toContain('no roster is configured');
}, 60_000);

test('an unknown job and a bad file are refused with what there is', async () => {
  const unknown = await cli('schedule', 'run', 'notes');
  expect(unknown).toMatchObject({ exitCode: 2 });
  expect(unknown.stderr).toContain('there are rescreen, sweep, report, onboard, mail, note');
  writeFileSync(join(folder, 'own-jobs', 'bad.mjs'), "export default { name: 'bad' };");
  const bad = await cli('schedule', 'show');
  rmSync(join(folder, 'own-jobs', 'bad.mjs'));
  expect(bad).toMatchObject({ exitCode: 2 });
  expect(bad.stderr).toMatch(/own-jobs\/bad\.mjs.*run: must be a function/);
}, 60_000);

test('the scheduler runs what comes due, says how it ended, and ends with 0 on a signal', async () => {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration('*/4 * * * * *'));
  const child = startCli(['schedule'], { folder, environment });
  const stderr = collect(child.stderr);
  child.stdout?.resume();
  for (let round = 0; round < 400 && !/job_finished/.test(stderr.text()); round += 1) await delay(50);
  child.kill('SIGTERM');
  const [exitCode] = await once(child, 'close');
  expect(stderr.text()).toMatch(/"job":"note".*"exitCode":3.*job_finished: not all is well/);
  expect(exitCode).toBe(0);
  const shown = JSON.parse((await cli('schedule', 'show', '--json')).stdout);
  const [note] = shown.jobs.filter((one: { job: string }) => one.job === 'note');
  expect(note.runs[0]).toMatchObject({ state: 'finished', exitCode: 3, attempts: 1 });
  expect(Date.parse(note.next)).toBeGreaterThan(Date.parse(note.runs[0].dueAt));
}, 60_000);
