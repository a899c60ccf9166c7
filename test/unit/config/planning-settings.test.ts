import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.js';
import { configSchema, digestSettings } from '../../../src/config/schema.js';
import { ConfigError } from '../../../src/errors.js';

function load(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'nightscreen-config-'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  return loadConfig({ environment: {}, folder });
}

function listProblems(text: string): readonly string[] {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ where, path, message }) => `${where} ${path} ${message}`);
    throw error;
  }
  return [];
}

it('a tier longer than a day without a reason is refused with its line', () => {
  expect(listProblems('screening:\n  cadence:\n    medium: 7d\n    low: 12h\n')).toEqual([
    expect.stringMatching(/yaml:3:13 screening\.cadence\.medium is missing: .* needs a reason/),
  ]);
});

it('spans and caps that are no such are refused with what they should be', () => {
  const problems = listProblems(
    'screening:\n  reuseMaxAge: 12 hours\nbudget:\n  maxSearchesPerMonth: 0\n  currency: euro\n  priceOfSearch: 1\n',
  );
  expect(problems).toEqual([
    expect.stringMatching(/:2:16 screening\.reuseMaxAge must be a span such as 30m, 12h or 7d/),
    expect.stringMatching(/:4:24 budget\.maxSearchesPerMonth must be more than 0/),
    expect.stringMatching(/:5:13 budget\.currency must be a currency such as EUR/),
    expect.stringMatching(/:6:3 budget\.priceOfSearch unknown setting; did you mean pricePerSearch/),
  ]);
});

it('the defaults ask for everybody daily and use nothing again', () => {
  const { settings } = load(
    'screening:\n  cadence:\n    low: 30d\n    reason: policy 4.2\nbudget:\n  maxSearchesPerDay: 5\n',
  );
  expect(settings.screening).toMatchObject({ cadenceHours: 24, reuseMaxAge: 0, cadence: { low: '30d' } });
  expect(settings.budget).toEqual({ maxSearchesPerDay: 5, currency: 'EUR' });
});

it('settings that shape no answer leave the digest as it is, which names the cause of changes', () => {
  const others = configSchema.parse({ sweep: { windows: 8 }, screening: { cadenceHours: 12 } });
  expect(digestSettings(others)).toBe(digestSettings(configSchema.parse({})));
});
