import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { makeCliSite, runCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { makeCustomerNames, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

/** The words of a printed command, as a shell would split them. */
const toWords = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);

async function makeSite() {
  const settings =
    'rosters: [{ name: people, csv: { path: people.csv } }, { name: staff, csv: { path: staff.csv } }]\n';
  const files = { 'people.csv': toCsv(makeCustomerNames(40)), 'nightscreen.config.yaml': settings };
  const site = await makeCliSite(files, sandbox, (await databases.locate()).url);
  await mkdir(join(site.folder, 'given files'));
  await writeFile(join(site.folder, 'given files', 'new.csv'), toCsv(makeCustomerNames(20)));
  return site;
}

it('what a held onboarding says to type takes the file that it was given, and what a stopped one says goes on with it', async () => {
  const site = await makeSite();
  await runCli(['import', '--roster', 'people'], site);
  const given = ['onboard', '--file', 'given files/new.csv', '--roster', 'people', '--max-searches', '3'];
  const held = await runCli(given, site);
  expect(held.exitCode).toBe(2);
  const [override = ''] = /nightscreen onboard .*--accept-roster --by NAME --reason TEXT/.exec(held.stderr) ?? [];
  expect(override).not.toBe('');
  // Without its configuration another folder knows no roster of this name, and the file is read all the same.
  const elsewhere = { ...site, folder: await mkdtemp(join(tmpdir(), 'nightscreen-elsewhere-')) };
  const taken = await runCli([...toWords(override.replace('--by NAME ', '')), '--max-searches', '3'], elsewhere);
  expect(taken.exitCode).toBe(4);
  const [next = ''] = /nightscreen runs resume \S+/.exec(taken.stdout) ?? [];
  const resumed = await runCli([...toWords(next), '--json'], elsewhere);
  expect(resumed.stderr).not.toContain('edited');
  expect([resumed.exitCode, JSON.parse(resumed.stdout)]).toMatchObject([
    expect.any(Number),
    { counts: { rows: 20, remaining: 0, failed: 0 } },
  ]);
}, 60_000);
