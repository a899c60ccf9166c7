import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.js';
import { readUserJobs } from '../../../src/scheduling/user-jobs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-jobs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = () => readUserJobs(folder, ['rescreen'], 'nightscreen.config.yaml:3');

it('the jobs of a folder are read in the order of their files; other files are left alone', async () => {
  write('b.mjs', "export default { name: 'second', run() {} };");
  write(
    'a.mjs',
    "export default { name: 'first', defaultSchedule: { cron: '0 7 * * *' }, after: ['report'], run() {} };",
  );
  write('notes.txt', 'no job');
  expect(await read()).toMatchObject([
    { name: 'first', defaultSchedule: { cron: '0 7 * * *', timezone: 'UTC' }, after: ['report'] },
    { name: 'second', defaultSchedule: null, after: [] },
  ]);
});

it.each([
  ["export default { name: 'Bad Name', run() {} };", 'name: must be a short name'],
  ["export default { name: 'fine' };", 'run: must be a function'],
  [
    "export default { name: 'fine', defaultSchedule: { cron: 'nightly' }, run() {} };",
    'defaultSchedule.cron: is not a cron expression',
  ],
  ["export default { name: 'rescreen', run() {} };", 'its name rescreen is taken by Nightscreen itself'],
  ['export const job = 1;', 'it exports no job'],
  ["throw new Error('not today');", 'it cannot be loaded: not today'],
  ["export default { name: 'fine', schedule: 1, run() {} };", 'schedule'],
])('%s is refused with the file and the reason', async (text, reason) => {
  write('wrong.mjs', text);
  const error: unknown = await read().catch((caught: unknown) => caught);
  if (!(error instanceof ConfigError)) throw error;
  expect(error.problems[0]?.where).toBe(join(folder, 'wrong.mjs'));
  expect(error.problems[0]?.message).toContain(reason);
});

it('every bad file is named at once, and a folder that is not there', async () => {
  write('one.mjs', 'export default 1;');
  write('two.mjs', 'export default 2;');
  await expect(read()).rejects.toMatchObject({ problems: [{}, {}] });
  await expect(readUserJobs(join(folder, 'none'), [], 'file:3')).rejects.toThrow('cannot be read');
});
