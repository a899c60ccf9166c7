import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { collect, runCli, startCli } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';

let folder: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-service-'));
  await seedDatabase(folder);
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const access = (key = sandbox.privateKey) => ({ NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: key });

async function waitFor(read: () => string, pattern: RegExp): Promise<void> {
  for (let round = 0; round < 800 && !pattern.test(read()); round += 1) await delay(50);
  expect(read()).toMatch(pattern);
}

test('doctor finds all well with a service that answers, and each thing that is wrong without one', async () => {
  writeFileSync(join(folder, 'people.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n');
  writeFileSync(join(folder, 'people.yaml'), 'rosters: [{ name: people, csv: { path: people.csv } }]\n');
  const words = ['doctor', '--config', 'people.yaml', '--json'];
  const well = await runCli(words, { folder, environment: access() });
  expect(well.exitCode).toBe(0);
  const document = JSON.parse(well.stdout);
  expect(document).toMatchObject({ schema: 'nightscreen/doctor/1', ok: true });
  const unreachable = { ...access(), NIGHTSCREEN_BASE_URL: 'http://127.0.0.1:9/v1' };
  const ill = await runCli(['doctor'], { folder, environment: unreachable });
  expect(ill.exitCode).toBe(3);
  expect(ill.stdout).toMatch(/^fail {2}service +http:\/\/127\.0\.0\.1:9\/v1/m);
  expect(ill.stdout).toContain('-> check service.baseUrl');
});

test('a key that the service does not know stops the sweep with exit code 4 and shows nothing of the key', async () => {
  const key = 'private_sandbox_Pl4ntedKeyPl4nted';
  const { exitCode, stdout, stderr } = await runCli(['sweep', '--json'], { folder, environment: access(key) });
  expect(exitCode).toBe(4);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(stdout + stderr).not.toContain('Pl4nted');
});

test('an onboarding prints one run summary, and the run is listed afterwards', async () => {
  writeFileSync(join(folder, 'few.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n2,entity,Muster GmbH\n');
  const words = ['onboard', '--file', 'few.csv', '--json'];
  const { exitCode, stdout, stderr } = await runCli(words, { folder, environment: access() });
  expect(stderr).not.toContain('Ada Beispiel');
  const summary = JSON.parse(stdout);
  expect([exitCode, summary.exitCode]).toEqual([0, 0]);
  expect(summary).toMatchObject({ schema: 'nightscreen/run-summary/1', kind: 'onboard', counts: { screened: 2 } });
  const listed = await runCli(['runs', 'list'], { folder });
  expect(listed.stdout).toContain(summary.runId);
});

test('the first SIGTERM stops a run gracefully: exit code 4, one summary, and it can be resumed to its end', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => `${index},person,Name ${index}`);
  writeFileSync(join(folder, 'many.csv'), `customer_id,type,name\n${rows.join('\n')}\n`);
  const environment = access();
  const words = ['onboard', '--file', 'many.csv', '--roster', 'many', '--json'];
  const child = startCli(words, { folder, environment });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  await waitFor(stderr.text, /"stage":"screen"/);
  child.kill('SIGTERM');
  const [exitCode] = await once(child, 'close');
  const summary = JSON.parse(stdout.text());
  expect([exitCode, summary.state]).toEqual([4, 'stopped']);
  const listed = await runCli(['runs', 'list'], { folder });
  expect(listed.stdout).toMatch(
    new RegExp(`^${summary.runId} +many +stopped: ${summary.counts.remaining} remaining +\\d\\d:\\d\\d +40 `, 'm'),
  );
  expect(listed.stdout).toMatch(new RegExp(`^Why\n${summary.runId} +\\S`, 'm'));
  const resumed = await runCli(['runs', 'resume', summary.runId, '--json'], { folder, environment });
  expect(resumed.exitCode).toBe(0);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ runId: summary.runId, counts: { remaining: 0 } });
});

test('the sandbox prints one line when ready, leaves its key where it is told to, and ends on the first signal with exit code 0', async () => {
  const child = startCli(['sandbox', '--json', '--key-file', 'sandbox-key'], { folder });
  const stdout = collect(child.stdout);
  await waitFor(stdout.text, /\n/);
  expect(Object.keys(JSON.parse(stdout.text()))).toEqual([
    'url',
    'privateKey',
    'publicKey',
    'livePrivateKey',
    'otherPrivateKey',
    'workflowToken',
    'kycLevel',
    'kybLevel',
    'jwt',
  ]);
  const key = join(folder, 'sandbox-key');
  expect(readFileSync(key, 'utf8')).toBe(`${JSON.parse(stdout.text()).privateKey}\n`);
  expect((statSync(key).mode & 0o777).toString(8)).toBe('600');
  child.kill('SIGTERM');
  const [exitCode] = await once(child, 'close');
  expect(exitCode).toBe(0);
});

test('the scheduler says when each job starts next and ends gracefully on a signal', async () => {
  const child = startCli(['schedule'], { folder, environment: access() });
  const stderr = collect(child.stderr);
  await waitFor(stderr.text, /"report".*job_planned/);
  const lines = stderr.text().trimEnd().split('\n');
  const planned = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'job_planned');
  const next = expect.stringMatching(/^\d{4}-/);
  expect(planned).toContainEqual(
    expect.objectContaining({ job: 'rescreen', cron: '0 2 * * *', timezone: 'UTC', next }),
  );
  child.kill('SIGINT');
  const [exitCode] = await once(child, 'close');
  expect(exitCode).toBe(0);
});

test('a reader of standard output that goes away is met with silence', async () => {
  const child = startCli(['config', 'show'], { folder });
  child.stdout?.destroy();
  const stderr = collect(child.stderr);
  await once(child, 'close');
  expect(stderr.text()).toBe('');
});
