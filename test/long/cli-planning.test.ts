import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { runCli } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';

let folder: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-planning-'));
  await seedDatabase(folder);
  writeFileSync(
    join(folder, 'nightscreen.config.yaml'),
    'rosters: [{ name: retail, csv: { path: retail.csv } }]\nbudget: { maxSearchesPerDay: 2, pricePerSearch: 0.5 }\n',
  );
  writeFileSync(
    join(folder, 'retail.csv'),
    'customer_id,type,name,risk_tier\nK1,person,Ada Beispiel,low\nK2,person,Émile Exemple,\nK3,person,Eva Ejemplo,high\n',
  );
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

test('a preview needs neither key nor service and says what it would cost and whom the budget leaves out', async () => {
  expect((await runCli(['import', '--roster', 'retail'], { folder })).exitCode).toBe(0);
  const { exitCode, stdout } = await runCli(['screen', '--roster', 'retail', '--dry-run', '--json'], { folder });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 'nightscreen/screening-preview/1',
    ...{ roster: 'retail', selection: 'due', inScope: 3, planned: 2, searches: 2, calls: 2, controlSearches: 0 },
    ...{ reasons: { new: 2, over_budget: 1 }, overBudget: { new: 1 }, leftOut: ['K1'] },
    ...{ cost: { amount: 1, currency: 'EUR' }, budget: { leftForAll: 1, leftForReserved: 2 } },
  });
  const reported = await runCli(['screen', '--roster', 'retail', '--dry-run'], { folder });
  expect(reported.stdout).toMatch(/^new +2 +never screened$/m);
  expect(reported.stdout).toMatch(/^over budget +1 forced, overdue or never screened with their current record: K1$/m);
  expect(reported.stdout).toMatch(/^cost +1\.00 EUR$/m);
});

test('a live key without a cap for the month ends with exit code 2 before any call', async () => {
  const environment = { NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: sandbox.livePrivateKey };
  const { exitCode, stderr } = await runCli(['onboard', '--roster', 'retail'], { folder, environment });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('budget.maxSearchesPerMonth: is missing');
  expect(stderr).toContain('database.acceptEmbedded: is false');
  expect(sandbox.ledger()).toEqual([]);
});

test('a live key with cap and price ends with exit code 2 before any call while nobody has accepted the embedded database', async () => {
  writeFileSync(
    join(folder, 'live.yaml'),
    'rosters: [{ name: retail, csv: { path: retail.csv } }]\nbudget: { maxSearchesPerMonth: 9, pricePerSearch: 0.5 }\n',
  );
  const environment = { NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: sandbox.livePrivateKey };
  const words = ['onboard', '--roster', 'retail', '--config', 'live.yaml'];
  const { exitCode, stderr } = await runCli(words, { folder, environment });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('database.acceptEmbedded: is false');
  expect(stderr).not.toContain('budget.');
  expect(sandbox.ledger()).toEqual([]);
});
