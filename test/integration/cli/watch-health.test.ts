import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { measureInto } from '../../../src/cli/measuring.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { startMonitoring, watchHealth } from '../../../src/cli/schedule/health.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { createLogger } from '../../../src/logging.js';
import { createMetrics } from '../../../src/metrics/metrics.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { startCuttingProxy } from '../../helpers/proxies.js';

const databases = testDatabases('postgres');

async function begin(url: string, limitMs?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-figures-'));
  const textfile = join(folder, 'nightscreen.prom');
  await writeFile(
    join(folder, 'nightscreen.config.yaml'),
    JSON.stringify({
      metrics: { textfile },
      watchdog: { noteFile: 'note.json' },
      rosters: [{ name: 'retail', csv: { path: 'retail.csv' } }],
    }),
  );
  const environment = { DATABASE_URL: url };
  const config = loadConfig({ environment, folder });
  const complaints: string[] = [];
  const measure = () => {
    const options = { isStopping: () => false, complain: (message: string) => complaints.push(message) };
    const limit = limitMs === undefined ? {} : { limitMs };
    const measuring = measureInto(config, createMetrics('1.0.0', { isLasting: true }), { ...options, ...limit });
    return watchHealth(config, measuring, () => false);
  };
  return { folder, environment, config, textfile, complaints, measure, readFile: () => readFile(textfile, 'utf8') };
}
const terminal = {
  isScreen: false,
  columns: 80,
  hasColours: false,
  writeData: async () => undefined,
  writeMessage: () => undefined,
};
const findReadable = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^nightscreen_(facts_readable|night_success)/.test(line));
const readable = (value: number): readonly string[] => [
  `nightscreen_facts_readable ${value}`,
  'nightscreen_night_success_timestamp_seconds{roster="retail"} 0',
];

it('a database that has gone away is told, and the figures of before stand, by whoever leaves them', async () => {
  const { url = '' } = await databases.locate();
  const server = await startCuttingProxy(url);
  const { folder, environment, textfile, measure, readFile } = await begin(server.url);
  try {
    const health = measure();
    await health.freshen();
    expect(findReadable((await health.write()).text)).toEqual(readable(1));
    expect(findReadable(await readFile())).toEqual(readable(1));
    expect((await health.readiness()).isReady).toBe(true);
    await health.close();
  } finally {
    await server.close();
  }
  const gone = measure();
  expect((await gone.write()).text).toMatch(/^nightscreen_facts_readable 0$/m);
  expect(await gone.readiness()).toMatchObject({ isReady: false, checks: { database: 'unreachable' } });
  expect(findReadable(await readFile())).toEqual(readable(0));
  await gone.close();

  const reportedGone = await readFile();
  const good = reportedGone.replace(/^nightscreen_facts_readable 0$/m, 'nightscreen_facts_readable 1');
  await writeFile(textfile, good);
  expect(await runCommandLine({ words: ['schedule', 'watchdog'], environment, folder, terminal })).toBe(3);
  expect([good === reportedGone, await readFile()]).toEqual([false, reportedGone]);
});

it('a database that does not answer is told after a while, and nobody waits for it longer', async () => {
  const { url = '' } = await databases.locate();
  const { complaints, measure, readFile } = await begin(url, 300);
  const other = await databases.open({ url });
  const health = measure();
  await other.transaction(async (transaction) => {
    await transaction.execute('lock table roster_import in access exclusive mode');
    await health.freshen();
    const { text } = await health.write();
    expect(text).toMatch(/^nightscreen_facts_readable 0$/m);
    expect(text).toMatch(/^nightscreen_build_info\{version="1\.0\.0"\} 1$/m);
    expect(await readFile()).toMatch(/^nightscreen_facts_readable 0$/m);
    expect(complaints).toEqual(['the figures for metrics could not be read: no answer within 300 ms']);
    await health.close();
  });
});

it('a scheduler on Postgres leaves figures although nobody asks for them over HTTP', async () => {
  const { url = '' } = await databases.locate();
  const { folder, environment, config, readFile } = await begin(url);
  const { invocation, stop } = makeInvocation(folder, environment);
  const logger = createLogger({ level: 'silent', secrets: [], write: () => undefined });
  const beside = await startMonitoring(invocation, config, { logger, address: null });
  await vi.waitFor(async () => expect(findReadable(await readFile())).toEqual(readable(1)), { timeout: 30_000 });
  stop();
  await beside.stop();
});
