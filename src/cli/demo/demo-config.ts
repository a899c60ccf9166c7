import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { configSchema } from '../../config/schema.js';
import { digestSettings } from '../../config/settings-digest.js';
import { findDemoFixture } from '../demo-fixtures.js';
import type { DemoFolder } from './demo-folder.js';

/** The demo's configuration: the sandbox as the service, the fixture roster, everything in the demo's folder, nothing from outside. */
export async function makeDemoConfig(folder: DemoFolder, baseUrl: string, apiKey: string): Promise<Config> {
  const canaries: unknown = JSON.parse(await readFile(findDemoFixture('canaries.json'), 'utf8'));
  const settings = configSchema.parse({
    service: { baseUrl, mode: 'test', rate: { perSecond: 150, concurrency: 8 } },
    // The demo's roster has a few bad rows on purpose, to show what becomes of them: more than a roster may have unless it says so.
    rosters: [
      {
        name: 'demo',
        csv: { path: findDemoFixture('roster.csv') },
        dossiers: { expect: 'never' },
        guards: { maxRejectShare: 0.02 },
      },
    ],
    canaries,
    reports: { dir: folder.reports },
    mail: { directory: join(folder.reports, 'mail'), from: 'nightscreen@bank.example', to: ['reviewer@bank.example'] },
    database: { folder: folder.database },
  });
  return {
    settings,
    file: null,
    settingsDigest: digestSettings(settings),
    secrets: [{ name: 'NIGHTSCREEN_API_KEY', value: apiKey, from: 'NIGHTSCREEN_API_KEY' }],
    secret: (name) => (name === 'NIGHTSCREEN_API_KEY' ? apiKey : undefined),
    originOfSecret: () => null,
    originOf: () => 'demo',
  };
}
