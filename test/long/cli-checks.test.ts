import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { type CliOptions, makeCliSite, runCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
let site: CliOptions;
/** The run of the first check. */
let checked = '';
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  const list = 'name,type\nWilhelmina Achterberg,person\nSomebody Unlisted,person\n';
  site = await makeCliSite({ 'list.csv': list }, sandbox, (await databases.locate()).url);
});
afterAll(() => sandbox.close());

const run = (words: readonly string[]) => runCli(words, site);

test('a check prints verdict, matches and run', async () => {
  const asked = await run(['check', 'Wilhelmina Achterberg', '--type', 'person', '--reason', 'file 4711']);
  expect(asked.exitCode).toBe(0);
  expect(asked.stdout).toMatch(/^verdict +hit:/);
  expect(asked.stdout).toMatch(/^ +1 +hit +1 +Wilhelmina Achterberg +Person +Sanctioned +1960-01-01 +fr +amla_one$/m);
  checked = /^run +(\S+-check-\d+)$/m.exec(asked.stdout)?.[1] ?? '';
}, 60_000);

test('runs show tells what a check was, and no report is made of one', async () => {
  const shown = await run(['runs', 'show', checked]);
  expect(shown.stdout).toMatch(/^verdict +hit:/m);
  expect(shown.stdout).toMatch(/^reason +file 4711$/m);
  expect(JSON.parse((await run(['runs', 'show', checked, '--json'])).stdout)).toMatchObject({
    schema: 'nightscreen/run/2',
    kind: 'check',
    check: { verdict: 'open_alert', reason: 'file 4711', answer: { total: 1 } },
    assurance: null,
    becauseOf: null,
  });
  const refused = await run(['report', '--run', checked]);
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused.stderr).toMatch(
    /run: \S+-check-\d+ is a single check; reports exist only for runs of a roster and for sweeps/,
  );
  expect(refused.stderr).toMatch(/`nightscreen runs show \d+` shows/);
}, 60_000);

test('a check without its reason is refused, and one that is not answered says so and exits with 4', async () => {
  const refused = await run(['check', 'Wilhelmina Achterberg', '--type', 'person']);
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused.stderr).toContain("required option '--reason <text>' not specified");
  sandbox.setFaults([{ path: '/aml/search', status: 402 }]);
  const stopped = await run(['check', 'Wilhelmina Achterberg', '--type', 'person', '--reason', 'x']);
  expect(stopped.exitCode).toBe(4);
  expect(stopped.stdout).toMatch(/^verdict +NOT SCREENED/);
}, 60_000);

test('assure says what it costs, measures, and exits with 3 below the share asked for', async () => {
  const words = ['assure', 'list.csv', '--sample', '2', '--seed', 'a', '--at-least', '90%'];
  const preview = await run([...words, '--dry-run', '--json']);
  expect(JSON.parse(preview.stdout)).toMatchObject({ calls: 2, strata: { 'person, Latin': 2 } });
  const measured = await run(words);
  expect(measured.exitCode).toBe(3);
  expect(measured.stdout).toMatch(/^recall +50\.0 % \(95 %: 9\.5 % to 90\.5 %\)$/m);
  expect(measured.stdout).toMatch(/^Not found\nSomebody Unlisted/m);
  const runId = /^run +(\S+-assure-\d+)$/m.exec(measured.stdout)?.[1] ?? '';
  const shown = await run(['runs', 'show', runId]);
  expect(shown.stdout).toMatch(/^recall +50\.0 %/m);
  expect(shown.stdout).toMatch(/^Not found\nSomebody Unlisted/m);
  const refused = await run(['report', '--run', runId]);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/is a measurement of recall.*`nightscreen runs show \d+`/);
}, 60_000);
