import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { collect, runCli, runInProcess, startCli } from '../helpers/cli-process.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-usage-'));
  writeFileSync(join(folder, 'half.yaml'), 'service:\n  mood: test\nrosters:\n  - { name: "reta');
  writeFileSync(join(folder, 'taken.yaml'), 'reports: { dir: ./taken.yaml }\n');
  writeFileSync(join(folder, 'real-key'), 'private_l1veKeyl1veKeyl1veKey');
});

test.each([
  ['--help', 0],
  ['--version', 0],
  ['scren', 2],
  ['doctor', 3],
])('the process of nightscreen %s ends with exit code %i and without a stack trace', async (words, expected) => {
  const { exitCode, stderr } = await runCli(words.split(' '), { folder });
  expect(exitCode).toBe(expected);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test('what a refused command says next can be done, and no stack trace is shown', async () => {
  const refuse = async (words: string, expected = 2): Promise<string> => {
    const { exitCode, stdout, stderr } = await runInProcess(words.split(' '), { folder });
    expect([words, exitCode]).toEqual([words, expected]);
    expect(stderr).not.toMatch(/^ {4}at /m);
    return stdout + stderr;
  };
  await refuse('rescreen');
  expect(await refuse('onboard --file none.csv')).toMatch(/"next":"[^"]*`nightscreen init` writes one/);
  expect(await refuse('runs --limt 3')).toContain('`nightscreen runs --help` their options');
  expect(await refuse('scren')).toContain('`nightscreen COMMAND --help`');
  await refuse('config --config half.yaml');
  expect(await refuse('doctor', 3)).toContain('write a configuration with `nightscreen init`');
  const taken = await refuse('doctor --config taken.yaml', 3);
  expect(taken).toMatch(/^fail +reports +\S+taken.yaml is a file where a folder belongs/m);
  expect(await refuse('sandbox --key-file real-key')).toContain('holds no key of a sandbox and stays as it is');
  expect(readFileSync(join(folder, 'real-key'), 'utf8')).toBe('private_l1veKeyl1veKeyl1veKey');
});

test('the sandbox prints one line when ready, leaves its key where it is told to, and ends on the first signal with exit code 0', async () => {
  const child = startCli(['sandbox', '--json', '--key-file', 'sandbox-key'], { folder });
  const stdout = collect(child.stdout);
  await expect.poll(stdout.text, { timeout: 40_000 }).toMatch(/\n/);
  const { privateKey, ...others } = JSON.parse(stdout.text());
  const names = 'url publicKey livePrivateKey otherPrivateKey workflowToken kycLevel kybLevel jwt';
  expect(Object.keys(others)).toEqual(names.split(' '));
  const key = join(folder, 'sandbox-key');
  expect(readFileSync(key, 'utf8')).toBe(`${privateKey}\n`);
  expect((statSync(key).mode & 0o777).toString(8)).toBe('600');
  child.kill('SIGTERM');
  expect((await once(child, 'close'))[0]).toBe(0);
});

test('a reader of standard output that goes away is met with silence', async () => {
  const child = startCli(['config'], { folder });
  child.stdout?.destroy();
  const stderr = collect(child.stderr);
  await once(child, 'close');
  expect(stderr.text()).toBe('');
});
