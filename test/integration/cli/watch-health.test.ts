import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measureInto, watchHealth } from '../../../src/cli/schedule/health.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { createMetrics } from '../../../src/metrics/metrics.js';
import { testDatabases } from '../../helpers/databases.js';
import { startCuttingProxy } from '../../helpers/proxies.js';

const databases = testDatabases('postgres');

/** The figures of a scheduler on this database; `complaints` is what it says about reading them. */
async function begin(url: string, limitMs?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-figures-'));
  const rosters = [{ name: 'retail', csv: { path: 'retail.csv' } }];
  await writeFile(join(folder, 'nightscreen.config.yaml'), JSON.stringify({ rosters }));
  const config = loadConfig({ environment: { DATABASE_URL: url }, folder });
  const complaints: string[] = [];
  const options = { isStopping: () => false, complain: (message: string) => complaints.push(message) };
  const limit = limitMs === undefined ? {} : { limitMs };
  const metrics = createMetrics('1.0.0', { isLasting: true });
  const measuring = measureInto(config, metrics.of(null), { ...options, ...limit });
  return { complaints, measuring, health: watchHealth(metrics, [{ config, measuring }], () => false) };
}
const findReadable = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^nightscreen_(facts_readable|night_success)/.test(line));
const readable = (value: number): readonly string[] => [
  `nightscreen_facts_readable ${value}`,
  'nightscreen_night_success_timestamp_seconds{roster="retail"} 0',
];

it('a database that has gone away is told, and the figures of before stand', async () => {
  const { url = '' } = await databases.locate();
  const server = await startCuttingProxy(url);
  const { measuring, health } = await begin(server.url);
  try {
    await health.freshen();
    expect(findReadable((await health.write()).text)).toEqual(readable(1));
    expect((await health.readiness()).isReady).toBe(true);
  } finally {
    await server.close();
  }
  measuring.noteUnreadable(new Error('the database is gone'));
  expect(findReadable((await health.write()).text)).toEqual(readable(0));
  const gone = await begin(server.url);
  expect((await gone.health.write()).text).toMatch(/^nightscreen_facts_readable 0$/m);
  expect(await gone.health.readiness()).toMatchObject({ isReady: false, checks: { database: 'unreachable' } });
});

it('a database that does not answer is told after a while, and nobody waits for it longer', async () => {
  const { url = '' } = await databases.locate();
  const { complaints, health } = await begin(url, 300);
  const other = await databases.open({ url });
  await other.transaction(async (transaction) => {
    await transaction.execute('lock table roster_import in access exclusive mode');
    await health.freshen();
    const { text } = await health.write();
    expect(text).toMatch(/^nightscreen_facts_readable 0$/m);
    expect(text).toMatch(/^nightscreen_build_info\{version="1\.0\.0"\} 1$/m);
    expect(complaints).toEqual(['the figures for metrics could not be read: no answer within 300 ms']);
  });
});
