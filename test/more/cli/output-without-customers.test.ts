import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { makeCliSite, runInProcess } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { watchlist } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

const { isTTY } = process.stdout;
afterEach(() => {
  process.stdout.isTTY = isTTY;
});

const customers = ['Wilhelmina Achterberg', 'Tamsin Oyelaran', 'Aroha Ngata', 'Ciro Malvestuto', 'Bertil Kvarn'];
const toRoster = (names: readonly string[], born = '1971-02-03', ...rows: string[]): string =>
  ['customer_id,type,name,birth_date', ...names.map((name, at) => `K-${at},person,${name},${born}`), ...rows, ''].join(
    '\n',
  );
const personal =
  /achterberg|oyelaran|ngata|malvestuto|kvarn|renamed|\bK-\d|1971|1985-05-05|robot\b|clémence|cl.mence|9999-01-01/i;

const configuration = `
rosters: [{ name: retail, csv: { path: roster.csv }, guards: { maxRejectShare: 1, maxDoubtShare: 1 } }]
controls: [{ type: person, name: Control Listed, expect: match }]
budget: { maxSearchesPerDay: 30 }
`;

it('without a terminal nothing that a run, an import or an acceptance prints has a customer, in text or JSON; what is asked for has', async () => {
  const files = {
    'roster.csv': toRoster(customers),
    'list.csv': 'id,name,schema\nx-1,Tamsin Oyelaran,Person\n',
    'nightscreen.config.yaml': configuration,
  };
  const site = await makeCliSite(files, sandbox, (await databases.locate()).url);
  const run = (words: string) => runInProcess(words.split(' '), site);
  const expectNobody = async (words: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await run(words);
    expect([words, exitCode, stdout], stderr).not.toEqual([words, 1, '']);
    expect(`${stdout}${stderr}`.split('\n').filter((line) => personal.test(line))).toEqual([]);
    return stdout;
  };
  const report = '--reason checked';
  await expectNobody('rescreen');

  // Everybody changes, two rows cannot be read, and two have values in doubt.
  const strange = [
    'K-7,robot,Renamed Robot,',
    'K-8,person,Cl?mence Renamed,9999-01-01',
    'K-9,person,Renamed Too,99/99/99',
  ];
  const changed = customers.map((name) => `${name} Renamed`);
  await writeFile(join(site.folder, 'roster.csv'), toRoster(changed, '1985-05-05', ...strange));
  const dry = await expectNobody('import --dry-run');
  expect(dry).toContain('Changes of known customers are shown on a terminal, and with --json');
  expect(dry).toMatch(/^in doubt .*: 1 value: .*\n.*\n +the values are shown on a terminal, and with --json$/m);
  await expectNobody('rescreen');
  await expectNobody('rescreen --json');
  const accepted = await expectNobody(`rescreen --accept-roster ${report}`);
  expect(accepted).toContain('Changes of known customers are shown on a terminal, and in report.html');
  await writeFile(join(site.folder, 'roster.csv'), toRoster(customers, '1971-02-03', ...strange));
  await expectNobody(`rescreen --json --accept-roster ${report}`);
  await expectNobody('runs show 5');
  await expectNobody('runs');
  await expectNobody('coverage');
  await expectNobody('report');
  await expectNobody('screen --because-of list.csv');
  await expectNobody('screen --because-of list.csv --json');
  await expectNobody('screen --all --dry-run');
  await expectNobody('roster except --all --until 2099-01-01 --reason late');

  expect((await run('coverage --limit 10')).stdout).toMatch(
    /^retail +high +unreadable +K-8 +\d{4}-.*: the searches do not cover this customer$/m,
  );
  for (const asked of ['runs show 5 --list rejected', 'coverage --limit 10', 'import --dry-run --json']) {
    expect((await run(asked)).stdout).toMatch(personal);
  }
  process.stdout.isTTY = true;
  await writeFile(join(site.folder, 'roster.csv'), toRoster(changed, '1985-05-05', ...strange));
  const seen = (await run('import --dry-run')).stdout;
  for (const shown of ['K-0', 'Tamsin Oyelaran Renamed', '"99/99/99"']) expect(seen).toContain(shown);
}, 180_000);
