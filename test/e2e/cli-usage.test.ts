import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../helpers/cli-process.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-usage-'));
  writeFileSync(join(folder, 'half.yaml'), 'service:\n  mood: test\nrosters:\n  - { name: "reta');
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['--help', 0],
  ['--version', 0],
  ['scren', 2],
  ['rescreen', 2],
  ['config show --config half.yaml', 2],
  ['onboard --file none.csv', 2],
  ['doctor', 3],
])('the process of nightscreen %s ends with exit code %i and without a stack trace', async (words, expected) => {
  const { exitCode, stderr } = await runCli(words.split(' '), { folder });
  expect(exitCode).toBe(expected);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test('what a refused command says next can be done', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'nightscreen-usage-'));
  const say = async (words: string, where = empty) => (await runCli(words.split(' '), { folder: where })).stderr;
  expect(await say('onboard --file none.csv')).toMatch(/next: .*`nightscreen init` writes one/);
  expect(await say('runs list --limt 3')).toContain('`nightscreen runs --help` their options');
  expect(await say('scren')).toContain('`nightscreen COMMAND --help`');
  expect(await say('config show --config half.yaml', folder)).not.toContain('config show');
  const { stdout } = await runCli(['doctor'], { folder: empty });
  expect(stdout).toContain('write a configuration with `nightscreen init`');
  writeFileSync(join(empty, 'taken.yaml'), 'reports: { dir: ./taken.yaml }\n');
  const taken = await runCli(['doctor', '--config', 'taken.yaml'], { folder: empty });
  expect(taken.stdout).toMatch(/^fail +reports +\S+taken.yaml is a file where a folder belongs/m);
  writeFileSync(join(empty, 'real-key'), 'private_l1veKeyl1veKeyl1veKey');
  expect(await say('sandbox --key-file real-key')).toContain('holds no key of a sandbox and stays as it is');
  expect(readFileSync(join(empty, 'real-key'), 'utf8')).toBe('private_l1veKeyl1veKeyl1veKey');
  rmSync(empty, { recursive: true });
});
