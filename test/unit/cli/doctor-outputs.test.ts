import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkDelivery } from '../../../src/cli/doctor/check-all.js';
import { loadConfig } from '../../../src/config/load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'nightscreen-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
