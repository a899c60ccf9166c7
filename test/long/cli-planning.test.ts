import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { type CliOptions, makeCliSite, runCli } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';

let site: CliOptions;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  const toSettings = (budget: string) =>
    `rosters: [{ name: retail, csv: { path: retail.csv } }]\nbudget: { ${budget} }\n`;
  const rows = 'K1,person,Ada Beispiel,low\nK2,person,Émile Exemple,\nK3,person,Eva Ejemplo,high\n';
  const files = {
    'nightscreen.config.yaml': toSettings('maxSearchesPerDay: 2, pricePerSearch: 0.5'),
    'live.yaml': toSettings('maxSearchesPerMonth: 9, pricePerSearch: 0.5'),
    'retail.csv': `customer_id,type,name,risk_tier\n${rows}`,
  };
  site = await makeCliSite(files, { url: sandbox.url, privateKey: sandbox.livePrivateKey });
  await seedDatabase(site.folder);
});
afterAll(() => sandbox.close());

test('a preview needs neither key nor service and says what it would cost and whom the budget leaves out', async () => {
  const { folder } = site;
  expect((await runCli(['import', '--roster', 'retail'], { folder })).exitCode).toBe(0);
  const { exitCode, stdout } = await runCli(['screen', '--roster', 'retail', '--dry-run', '--json'], { folder });
  expect(exitCode).toBe(0);
  const preview = JSON.parse(stdout);
  expect(preview).toMatchObject({ schema: 'nightscreen/screening-preview/1', roster: 'retail', selection: 'due' });
  expect(preview).toMatchObject({ inScope: 3, planned: 2, searches: 2, calls: 2, controlSearches: 0, leftOut: ['K1'] });
  expect(preview).toMatchObject({ reasons: { new: 2, over_budget: 1 }, overBudget: { new: 1 } });
  expect(preview).toMatchObject({ cost: { amount: 1, currency: 'EUR' }, budget: { leftForAll: 1 } });
  const reported = await runCli(['screen', '--roster', 'retail', '--dry-run'], { folder });
  expect(reported.stdout).toMatch(/^new +2 +never screened$/m);
  expect(reported.stdout).toMatch(/^over budget +1 forced, overdue or never screened with their current record$/m);
  expect(reported.stdout).toMatch(/^cost +1\.00 EUR$/m);
});

test('a live key without a cap for the month ends with exit code 2 before any call', async () => {
  const { exitCode, stderr } = await runCli(['onboard', '--roster', 'retail'], site);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/"path":"budget.maxSearchesPerMonth","message":"is missing/);
  expect(stderr).toMatch(/"path":"database.acceptEmbedded","message":"is false/);
  expect(sandbox.ledger()).toEqual([]);
});

test('a live key with cap and price ends with exit code 2 before any call while nobody has accepted the embedded database', async () => {
  const { exitCode, stderr } = await runCli(['onboard', '--roster', 'retail', '--config', 'live.yaml'], site);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('database.acceptEmbedded: is false');
  expect(stderr).not.toContain('budget.');
  expect(sandbox.ledger()).toEqual([]);
});
