import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { type CliOptions, collect, runCli, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { listSearches } from '../helpers/small-site.js';
import { toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());
const customers = 60;
const configuration = `service: { rate: { perSecond: 100, concurrency: 4 } }
rosters: [{ name: people, csv: { path: people.csv } }]
`;
const searches = (): number => listSearches(sandbox).length;

/** A rescreening under way: twelve customers are answered, and further answers take four seconds. */
async function startSlowRun() {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-lease-'));
  const names = Array.from({ length: customers }, (_, n) => `Customer Number ${n}`);
  await writeFile(join(folder, 'people.csv'), toCsv(names));
  await writeFile(join(folder, 'nightscreen.config.yaml'), configuration);
  const { url = '' } = await databases.locate();
  const access = { NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: sandbox.privateKey };
  const site: CliOptions = { folder, environment: { ...access, DATABASE_URL: url } };
  const before = searches();
  sandbox.setFaults([{ path: '/aml/search', afterCalls: 12, times: 1_000, delayMs: 4_000 }]);
  const child = startCli(['rescreen', '--json'], site);
  const log = collect(child.stderr);
  child.stdout?.resume();
  while (searches() - before < 16 && child.exitCode === null) await delay(10);
  return { site, url, child, log };
}

/** Starts the same job at once and gives what it came to, and how long after that it had the lease, by the database's clock. */
async function takeOver(site: CliOptions, url: string) {
  sandbox.setFaults([]);
  const began = new Date();
  const heir = startCli(['rescreen', '--json'], site);
  const log = collect(heir.stderr);
  const output = collect(heir.stdout);
  const closed = once(heir, 'close');
  await closed;
  const database = await openDatabase({ url }, 'tests');
  const [lease] = await database.query(z.object({ acquiredAt: z.date() }), 'select acquired_at from lease');
  await database.close();
  const seconds = ((lease?.acquiredAt.getTime() ?? 0) - began.getTime()) / 1_000;
  return { seconds, summary: JSON.parse(output.text()), log: log.text() };
}

test('a run whose process was killed goes on in the next start within 10 seconds', async () => {
  const { site, url, child } = await startSlowRun();
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  const heir = await takeOver(site, url);
  await closed;
  printFigure(`taken over ${heir.seconds.toFixed(1)} s after kill -9`);
  expect(heir.seconds, heir.log).toBeLessThan(10);
  expect(heir.summary).toMatchObject({ state: 'complete', counts: { screened: customers, remaining: 0 } });
}, 60_000);

test('a process that was paused past its lease writes nothing when it wakes, and everybody is told who holds the run', async () => {
  const { site, url, child, log } = await startSlowRun();
  const held = await runCli(['runs', 'list'], site);
  expect(held.stdout).toMatch(/held by \S+:\d+:\w+ since [\d-]+ [\d:]+ UTC, last heartbeat \d\.\d s ago/);
  const closed = once(child, 'close');
  child.kill('SIGSTOP');
  const heir = await takeOver(site, url);
  const database = await openDatabase({ url }, 'tests');
  const state = z.object({ batches: z.number(), attempts: z.string(), state: z.string(), epoch: z.number() });
  const read = async () =>
    database.query(
      state,
      `select (select count(*) from search_batch) as batches, run.state, run.epoch,
         (select string_agg(attempt_id || outcome, ',' order by attempt_id) from search_attempt) as attempts
       from run order by run_id desc limit 1`,
    );
  const before = await read();
  child.kill('SIGCONT');
  await closed;
  const after = await read();
  await database.close();
  const said = log
    .text()
    .split('\n')
    .filter((line) => line.includes('lease'));
  printFigure(
    `paused owner: taken over after ${heir.seconds.toFixed(1)} s; on waking it said: ${said.at(-1)?.trim() ?? 'nothing'}`,
  );
  expect(heir.seconds, heir.log).toBeLessThan(10);
  expect(heir.summary).toMatchObject({ state: 'complete', counts: { screened: customers } });
  expect(after).toEqual(before);
  expect(child.exitCode).not.toBe(0);
  expect(log.text()).toContain('lease_lost');
}, 60_000);
