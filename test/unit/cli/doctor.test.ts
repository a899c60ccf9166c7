import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assessSpace, checkDelivery } from '../../../src/cli/doctor/check-all.js';
import { checkService } from '../../../src/cli/doctor/service.js';
import { loadConfig } from '../../../src/config/load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'nightscreen-doctor-'));

async function examine(settings: object, environment: Record<string, string> = {}): Promise<readonly string[]> {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), JSON.stringify(settings));
  const findings = await checkDelivery(loadConfig({ environment, folder }));
  return findings.map(({ check, state, message }) => `${state} ${check}: ${message.replaceAll(folder, '')}`);
}

it('two people who cannot be told apart on the embedded database are found before the night', async () => {
  const review = { fourEyes: ['critical'] };
  expect(await examine({ review })).toEqual([
    expect.stringMatching(/^fail review: review\.fourEyes needs a database with a login for each reviewer/),
  ]);
  expect(await examine({ review }, { DATABASE_URL: 'postgres://localhost/x' })).toEqual([]);
});

it('the folder for copies of reports is never made, so it must be there and writable', async () => {
  expect(await examine({})).toEqual([]);
  const settings = { reports: { publishTo: 'share' } };
  expect(await examine(settings)).toEqual(['fail published reports: the folder /share does not exist']);
  writeFileSync(join(folder, 'share'), '');
  expect(await examine(settings)).toEqual(['fail published reports: /share is not a folder']);
});

it.skipIf(process.getuid?.() === 0)('a folder that may not be written to is found', async () => {
  mkdirSync(join(folder, 'closed'));
  chmodSync(join(folder, 'closed'), 0o500);
  expect(await examine({ reports: { publishTo: 'closed' } })).toEqual([
    'fail published reports: the folder /closed cannot be written to',
  ]);
});

it('a disk that is nearly full is found before the night', () => {
  const states = [100, 1_500, 9_000].map((megabytes) => assessSpace('reports space', '/data', megabytes).state);
  expect(states).toEqual(['fail', 'warn', 'ok']);
});

async function examineKey(key: string, budget: object, database: object = { acceptEmbedded: true }): Promise<string[]> {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), JSON.stringify({ budget, database }));
  const config = loadConfig({ environment: { NIGHTSCREEN_API_KEY: key }, folder });
  const findings = await checkService(config);
  return findings.flatMap(({ check, state, message }) =>
    check === 'budget' ? [`${state} ${message.split(':')[0]}`] : [],
  );
}

it('a live key without a cap for the month or without a price is found before the night, a test key needs neither', async () => {
  expect(await examineKey('private_l1veKeyl1veKeyl1veKey', {})).toEqual([
    'fail budget.maxSearchesPerMonth is missing',
    'fail budget.pricePerSearch is missing',
  ]);
  expect(await examineKey('private_l1veKeyl1veKeyl1veKey', { maxSearchesPerMonth: 9, pricePerSearch: 0 })).toEqual([
    'fail budget.pricePerSearch is 0',
  ]);
  expect(await examineKey('private_l1veKeyl1veKeyl1veKey', { maxSearchesPerMonth: 9, pricePerSearch: 0.5 })).toEqual([
    'ok 9 searches a month at 0.5 EUR each',
  ]);
  expect(await examineKey('private_sandbox_testKeytestKey', {})).toEqual([]);
});

it('without control searches a live key fails, a test key is warned, and the missing kinds are named', async () => {
  const find = async (apiKey: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'nightscreen-doctor-'));
    const findings = await checkService(loadConfig({ environment: { NIGHTSCREEN_API_KEY: apiKey }, folder }));
    return findings.filter(({ check }) => check === 'controls');
  };
  const missing = { message: expect.stringMatching(/none configured.*missing: .*person/) };
  expect(await find('private_l1veKeyl1veKeyl1veKey')).toMatchObject([{ state: 'fail', ...missing }]);
  expect(await find('private_sandbox_testKeytestKey')).toMatchObject([{ state: 'warn', ...missing }]);
});

it('a live key on the embedded database is found before the night, unless that is accepted', async () => {
  const budget = { maxSearchesPerMonth: 9, pricePerSearch: 0.5 };
  expect(await examineKey('private_l1veKeyl1veKeyl1veKey', budget, {})).toEqual([
    'fail database.acceptEmbedded is false',
  ]);
  expect(await examineKey('private_sandbox_testKeytestKey', budget, {})).toEqual([]);
});
