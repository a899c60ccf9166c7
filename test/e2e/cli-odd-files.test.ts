import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { collect, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';

const databases = testDatabases('postgres');
let database = '';
const folder = await mkdtemp(join(tmpdir(), 'nightscreen-odd-'));
execFileSync('mkfifo', [join(folder, 'pipe')]);
const roster = 'customer_id,type,name\n1,person,Anna One\n';

beforeAll(async () => {
  ({ url: database = '' } = await databases.locate());
  await writeFile(join(folder, 'people.csv'), roster);
  execFileSync('ln', ['-s', 'people.csv', join(folder, 'link.csv')]);
});

/** Runs a command for at most twenty seconds; gives its exit code, null where it had to be killed, and what it wrote. */
async function run(words: readonly string[], environment: Record<string, string> = {}, input?: string) {
  const child = startCli(words, { folder, environment: { DATABASE_URL: database, ...environment } });
  const log = collect(child.stderr);
  child.stdout?.resume();
  child.stdin?.end(input);
  const closed = once(child, 'close');
  await Promise.race([closed, delay(20_000, undefined, { ref: false })]);
  const { exitCode } = child;
  if (exitCode === null) child.kill('SIGKILL');
  await closed;
  return { exitCode, log: log.text() };
}

const oddFiles: readonly [string, readonly string[], Record<string, string>?][] = [
  ['the roster', ['import', '--file', 'pipe']],
  ['a roster that is looked at', ['roster', 'inspect', 'pipe']],
  ['the roster of an onboarding', ['import', '--file', 'pipe', '--dry-run']],
  ['a backup', ['db', 'restore', 'pipe']],
  ['the configuration', ['runs', 'list', '--config', 'pipe']],
  ['other settings', ['lab', 'replay', '--settings', 'pipe']],
  ['the file of a secret', ['runs', 'list'], { NIGHTSCREEN_API_KEY_FILE: 'pipe' }],
];

const sheets: readonly (readonly string[])[] = [
  ['review', 'import', 'pipe'],
  ['review', 'import', '--legacy', 'pipe'],
];

it.each(sheets)('has nothing to decide before a first import: %s %s %s', async (...words) => {
  const { url = '' } = await databases.locate();
  expect(await run(words, { DATABASE_URL: url })).toEqual({
    exitCode: 2,
    log: expect.stringMatching(/nothing was imported for default yet.*\[database_missing\]\n {2}next: {2}/),
  });
});

it.each(sheets)('refuses a pipe as a filled-in list before it is opened: %s %s %s', async (...words) => {
  expect(await run(['import', '--file', 'people.csv'])).toMatchObject({ exitCode: 0 });
  expect(await run(words)).toEqual({
    exitCode: 2,
    log: expect.stringContaining(
      'pipe is a pipe, and only regular files are read. Save the list as a file and give its path.',
    ),
  });
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
  expect(await run(['import', '--file', path], {}, roster)).toMatchObject({ exitCode: 0 });
});

it('reads a file by a link to it', async () => {
  expect(await run(['import', '--file', 'link.csv'])).toMatchObject({ exitCode: 0 });
});
