import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runInProcess, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';

const databases = testDatabases('postgres');
let database = '';
const folder = await mkdtemp(join(tmpdir(), 'nightscreen-odd-'));
execFileSync('mkfifo', [join(folder, 'pipe')]);
// Whatever opens the pipe all the same is let go within twenty seconds, with nothing in it.
const rescue = spawn('sh', ['-c', 'while sleep 20; do : > pipe; done'], {
  cwd: folder,
  stdio: 'ignore',
  detached: true,
});
afterAll(() => void (rescue.pid !== undefined && process.kill(-rescue.pid, 'SIGKILL')));
const roster = 'customer_id,type,name\n1,person,Anna One\n';

beforeAll(async () => {
  ({ url: database = '' } = await databases.locate());
  await writeFile(join(folder, 'people.csv'), roster);
  execFileSync('ln', ['-s', 'people.csv', join(folder, 'link.csv')]);
});

/** Runs a command; gives its exit code and what it said. */
async function run(words: readonly string[], environment: Record<string, string> = {}) {
  const access = { DATABASE_URL: database, ...environment };
  const { exitCode, stderr } = await runInProcess(words, { folder, environment: access });
  return { exitCode, log: stderr };
}

const pipe = join(folder, 'pipe');
const oddFiles: readonly [string, readonly string[], Record<string, string>?][] = [
  ['the roster', ['import', '--file', pipe]],
  ['a roster that is looked at', ['roster', 'inspect', pipe]],
  ['the roster of an onboarding', ['import', '--file', pipe, '--dry-run']],
  ['a backup', ['db', 'restore', pipe]],
  ['the configuration', ['runs', '--config', pipe]],
  ['other settings', ['config', 'replay', pipe]],
  ['the file of a secret', ['runs'], { NIGHTSCREEN_API_KEY_FILE: pipe }],
];

const sheets: readonly (readonly string[])[] = [
  ['review', 'import', pipe],
  ['review', 'import', '--legacy', pipe],
];

it('has nothing to decide before a first import, whatever the filled-in list', async () => {
  for (const words of sheets) {
    expect(await run(words)).toEqual({
      exitCode: 2,
      log: expect.stringMatching(/"code":"database_missing","message":"nothing was imported for default yet.*"next":/),
    });
  }
});

it('refuses a pipe as a filled-in list before it is opened', async () => {
  expect(await run(['import', '--file', join(folder, 'people.csv')])).toMatchObject({ exitCode: 0 });
  for (const words of sheets) {
    expect(await run(words)).toEqual({
      exitCode: 2,
      log: expect.stringContaining(
        'pipe is a pipe, and only regular files are read. Save the list as a file and give its path.',
      ),
    });
  }
});

it.each(oddFiles)('refuses a pipe as %s before it is opened', async (_, words, environment) => {
  const { exitCode, log } = await run(words, environment);
  expect(exitCode).toBe(2);
  expect(log).toContain('is a pipe, and only regular files are read');
});

it('refuses a device', async () => {
  expect(await run(['import', '--file', '/dev/zero'])).toMatchObject({
    exitCode: 2,
    log: expect.stringContaining('/dev/zero is a device'),
  });
});

it.each(['-', '/dev/stdin'])('reads a roster that is sent to standard input, named %s', async (path) => {
  const child = startCli(['import', '--file', path], { folder, environment: { DATABASE_URL: database } });
  child.stdout?.resume();
  child.stderr?.resume();
  child.stdin?.end(roster);
  expect(await once(child, 'close')).toEqual([0, null]);
});

it('reads a file by a link to it', async () => {
  expect(await run(['import', '--file', join(folder, 'link.csv')])).toMatchObject({ exitCode: 0 });
});
