import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkService } from '../../../src/cli/doctor/service.js';
import { loadConfig } from '../../../src/config/load-config.js';

async function examine(key: string, budget: object, database: object = { acceptEmbedded: true }): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nightscreen-doctor-'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), JSON.stringify({ budget, database }));
  const config = loadConfig({ environment: { NIGHTSCREEN_API_KEY: key }, folder });
  rmSync(folder, { recursive: true });
  const findings = await checkService(config);
  return findings.flatMap(({ check, state, message }) =>
    check === 'budget' ? [`${state} ${message.split(':')[0]}`] : [],
  );
}

it('a live key without a cap for the month or without a price is found before the night, a test key needs neither', async () => {
  expect(await examine('private_l1veKeyl1veKeyl1veKey', {})).toEqual([
    'fail budget.maxSearchesPerMonth is missing',
    'fail budget.pricePerSearch is missing',
  ]);
  expect(await examine('private_l1veKeyl1veKeyl1veKey', { maxSearchesPerMonth: 9, pricePerSearch: 0 })).toEqual([
    'fail budget.pricePerSearch is 0',
  ]);
  expect(await examine('private_l1veKeyl1veKeyl1veKey', { maxSearchesPerMonth: 9, pricePerSearch: 0.5 })).toEqual([
    'ok 9 searches a month at 0.5 EUR each',
  ]);
  expect(await examine('private_sandbox_testKeytestKey', {})).toEqual([]);
});

it('without control searches a live key fails, a test key is warned, and the missing kinds are named', async () => {
  const find = async (apiKey: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'nightscreen-doctor-'));
    const findings = await checkService(loadConfig({ environment: { NIGHTSCREEN_API_KEY: apiKey }, folder }));
    rmSync(folder, { recursive: true });
    return findings.filter(({ check }) => check === 'controls');
  };
  const missing = { message: expect.stringMatching(/none configured.*missing: .*person/) };
  expect(await find('private_l1veKeyl1veKeyl1veKey')).toMatchObject([{ state: 'fail', ...missing }]);
  expect(await find('private_sandbox_testKeytestKey')).toMatchObject([{ state: 'warn', ...missing }]);
});

it('a live key on the embedded database is found before the night, unless that is accepted', async () => {
  const budget = { maxSearchesPerMonth: 9, pricePerSearch: 0.5 };
  expect(await examine('private_l1veKeyl1veKeyl1veKey', budget, {})).toEqual(['fail database.acceptEmbedded is false']);
  expect(await examine('private_sandbox_testKeytestKey', budget, {})).toEqual([]);
});
