import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
