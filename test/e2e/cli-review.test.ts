import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { makeCliSite, runInProcess } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { people, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

it('a first run says what it cannot show, and an export keeps every filled list and any other file', async () => {
  const files = { 'people.csv': toCsv(people), 'nightscreen.config.yaml': 'timezone: UTC\n' };
  const site = await makeCliSite(files, sandbox, (await databases.locate()).url);
  const { folder } = site;
  const cli = (words: string) => runInProcess(words.split(' '), site);
  const first = await cli(`onboard --file ${join(folder, 'people.csv')}`);
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(first.stdout).toMatch(/^note +control searches: none configured/m);
  expect(first.stderr).toContain('finds no real sanctioned name');

  // Without a configuration, folders are those of the command, wherever this process is.
  expect(await cli('report --out again')).toMatchObject({ exitCode: 0 });
  expect(readdirSync(join(folder, 'again'))).toEqual(readdirSync(join(folder, 'reports')));

  // A young age is neither rounded to nothing nor to six minutes.
  expect((await cli('coverage')).stdout).toMatch(/^oldest .* UTC, (?:[1-9]\d?|1\d\d) s ago$|, [1-9]\d? min ago$/m);

  const list = join(folder, 'review.csv');
  const listKept = () => readdirSync(folder).filter((name) => name.startsWith('review.kept-'));
  expect((await cli('review export')).stdout).toMatch(/^2 open alerts: .*\nfill in disposition /);
  const unfilled = readFileSync(list, 'utf8');
  await cli('review export');
  expect(listKept()).toEqual([]);

  const [header = '', row = '', ...others] = unfilled.split(/\r?\n/);
  const at = header.split(',').indexOf('comment');
  const cells = row.split(',');
  const filled = [header, [...cells.slice(0, at), 'two hours of work', ...cells.slice(at + 1)].join(','), ...others];
  writeFileSync(list, filled.join('\n'));
  const again = await cli('review export');
  expect(again.exitCode).toBe(0);
  const [kept = ''] = listKept();
  expect(again.stdout).toContain(join(folder, kept));
  expect(readFileSync(join(folder, kept), 'utf8')).toBe(filled.join('\n'));
  expect(readFileSync(list, 'utf8')).not.toContain('two hours of work');

  const roster = readFileSync(join(folder, 'people.csv'), 'utf8');
  await cli('review export --out people.csv');
  const [moved = ''] = readdirSync(folder).filter((name) => name.startsWith('people.kept-'));
  expect(readFileSync(join(folder, moved), 'utf8')).toBe(roster);
}, 120_000);
