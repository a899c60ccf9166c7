import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Fault } from '../../src/sandbox/trouble.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { collect, makeCliSite, runCli, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { listSearches } from '../helpers/small-site.js';
import { makeCustomerNames, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());
const configuration = `service:
  rate: { perSecond: 50, concurrency: 4 }
controls: [{ type: person, name: Control Listed, expect: match }]
rosters: [{ name: people, csv: { path: people.csv } }]
`;
const searches = (): number => listSearches(sandbox).length;

async function makeSite(customers: number) {
  const files = { 'people.csv': toCsv(makeCustomerNames(customers)), 'nightscreen.config.yaml': configuration };
  const { url = '' } = await databases.locate();
  return { ...(await makeCliSite(files, sandbox, url)), url };
}
type Site = Awaited<ReturnType<typeof makeSite>>;

/** Starts a rescreening, sends signals once `isThere`, and gives how and how fast it ended after the first one. */
async function stopWhen(
  site: Site,
  isThere: (log: string) => boolean | Promise<boolean>,
  signals: readonly NodeJS.Signals[],
) {
  const child = startCli(['rescreen', '--json'], site);
  const log = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  while (child.exitCode === null && !(await isThere(log.text()))) await delay(10);
  const beganMs = performance.now();
  for (const signal of signals) {
    child.kill(signal);
    await delay(100);
  }
  await closed;
  return { exitCode: child.exitCode, seconds: (performance.now() - beganMs) / 1_000, log: log.text() };
}

async function readRun({ url }: Site) {
  const database = await openDatabase({ url }, 'tests');
  try {
    const runs = await database.query(
      z.object({ state: z.string(), stage: z.string() }),
      'select state, stage from run order by run_id',
    );
    const calls = await database.query(
      z.object({ outcome: z.string(), count: z.number() }),
      'select outcome, count(*) as count from call group by outcome',
    );
    return { run: runs.at(-1), calls: Object.fromEntries(calls.map(({ outcome, count }) => [outcome, count])) };
  } finally {
    await database.close();
  }
}

interface Moment {
  customers?: number;
  /** Whether calls are cut, and so nobody learns what came of them. */
  isCut?: true;
  faults?: readonly Fault[];
  isThere: (log: string, calls: number) => boolean;
}

const many = { path: '/aml/search', times: 10_000 };
const moments: Readonly<Record<string, Moment>> = {
  'in the import': { customers: 5_000, isThere: (log) => log.includes('"stage":"import"') },
  'in the planning': { customers: 5_000, isThere: (log) => log.includes('"stage":"plan"') },
  'in a control search': { isCut: true, faults: [{ ...many, delayMs: 20_000 }], isThere: (_, calls) => calls > 0 },
  'in the searches': { isThere: (_, calls) => calls > 10 },
  'in a pause': {
    faults: [{ ...many, afterCalls: 10, status: 429, retryAfter: '600' }],
    isThere: (log) => log.includes('"msg":"paused"'),
  },
  'in an outage': {
    faults: [{ ...many, afterCalls: 10, status: 503 }],
    isThere: (log) => log.includes('waiting_for_service'),
  },
};

test.each(Object.entries(moments))(
  'SIGTERM %s ends the run within 8 seconds, resumable',
  async (when, moment) => {
    const site = await makeSite(moment.customers ?? 400);
    const before = searches();
    sandbox.setFaults(moment.faults ?? []);
    const ended = await stopWhen(site, (log) => moment.isThere(log, searches() - before), ['SIGTERM']);
    sandbox.setFaults([]);
    const { run, calls } = await readRun(site);
    printFigure(`SIGTERM ${when}: ended after ${ended.seconds.toFixed(1)} s, ledger ${JSON.stringify(calls)}`);
    expect(ended.exitCode, ended.log).toBe(4);
    expect(ended.seconds).toBeLessThan(8);
    expect(run?.state, ended.log).toBe('stopped');
    expect(calls).not.toHaveProperty('in_flight');
    expect(calls).not.toHaveProperty('aborted');
    const { unknown = 0, not_sent: _, ...known } = calls;
    if (moment.isCut) expect(unknown).toBeGreaterThan(0);
    expect(unknown).toBeLessThanOrEqual(moment.isCut ? 4 : 0);
    expect(Object.values(known).reduce((sum, count) => sum + count, unknown)).toBe(searches() - before);
  },
  60_000,
);

test('SIGTERM while answers hang ends the run within 8 seconds: what it cut is unknown, and only that is asked again', async () => {
  const customers = 40;
  const site = await makeSite(customers);
  const before = searches();
  sandbox.setFaults([{ ...many, afterCalls: 10, hang: 'before_headers' }]);
  const ended = await stopWhen(site, () => searches() - before >= 14, ['SIGTERM']);
  sandbox.setFaults([]);
  const { run, calls } = await readRun(site);
  expect({ exitCode: ended.exitCode, state: run?.state }, ended.log).toEqual({ exitCode: 4, state: 'stopped' });
  expect(ended.seconds).toBeLessThan(8);
  expect(calls).toMatchObject({ unknown: 4 });
  const next = await runCli(['rescreen', '--json'], site);
  expect(JSON.parse(next.stdout)).toMatchObject({ state: 'complete', counts: { screened: customers } });
  const counts = new Map<string, number>();
  const asked = listSearches(sandbox);
  for (const { searchName } of asked.slice(before)) {
    const name = searchName ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const repeated = [...counts].filter(([name, count]) => name.startsWith('Customer') && count > 1);
  printFigure(
    `SIGTERM while answers hang: ended after ${ended.seconds.toFixed(1)} s, ${calls['unknown']} calls unknown, ${repeated.length} of ${customers} customers asked again`,
  );
  expect(repeated.map(([, count]) => count)).toEqual([2, 2, 2, 2]);
}, 60_000);

test('SIGINT twice ends the process at once, and the next start goes on', async () => {
  const site = await makeSite(20);
  const before = searches();
  sandbox.setFaults([{ ...many, afterCalls: 10, hang: 'before_headers' }]);
  const ended = await stopWhen(site, () => searches() - before > 12, ['SIGINT', 'SIGINT']);
  sandbox.setFaults([]);
  printFigure(`SIGINT twice: ended after ${ended.seconds.toFixed(1)} s with exit code ${ended.exitCode}`);
  expect(ended.exitCode).toBe(4);
  // Eight is what the first signal alone gives to the answers on their way.
  expect(ended.seconds).toBeLessThan(4);
  const next = await runCli(['rescreen', '--json'], site);
  expect(JSON.parse(next.stdout)).toMatchObject({ state: 'complete', counts: { screened: 20 } });
}, 60_000);
