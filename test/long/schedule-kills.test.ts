import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { readJobRuns, saveJobSchedules } from '../../src/store/operations/jobs.js';
import { ensureOrganisation } from '../../src/store/organisations.js';
import { type CliOptions, collect, makeCliSite, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { listSearches } from '../helpers/small-site.js';
import { makeCustomerNames, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());
const customers = 40;
const secondMs = 1_000;

/** A site whose rescreening, planned an hour ago, is due in a moment: whoever starts later than that catches it up. */
async function makeSite() {
  const due = new Date(Date.now() + 3 * secondMs);
  const cron = `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const configuration = `service: { rate: { perSecond: 100, concurrency: 4 } }
rosters: [{ name: people, csv: { path: people.csv } }]
jobs: { rescreen: "${cron}", sweep: off, report: off }
`;
  const files = { 'people.csv': toCsv(makeCustomerNames(customers)), 'nightscreen.config.yaml': configuration };
  const { url = '' } = await databases.locate();
  const database = await databases.open({ url });
  const anHourAgo = new Date(Date.now() - 3_600_000);
  const { organisationId } = await ensureOrganisation(database, 'default', anHourAgo);
  await saveJobSchedules(database, organisationId, [{ job: 'rescreen', cron, timezone: 'UTC' }], {
    areAll: false,
    now: anHourAgo,
  });
  return { site: await makeCliSite(files, sandbox, url), url };
}

function startScheduler(site: CliOptions) {
  const child = startCli(['schedule'], site);
  const log = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  return { child, log, closed };
}

async function waitFor(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 1_200 && !isSo(); round += 1) await delay(50);
  expect(isSo()).toBe(true);
}

const searches = (): number => listSearches(sandbox).length;

async function readOutcome(url: string) {
  const database = await databases.open({ url });
  const runs = await database.query(z.object({ state: z.string(), kind: z.string() }), 'select state, kind from run');
  return { jobs: await readJobRuns(database, 1, 10), runs };
}

test.each([
  ['SIGKILL', null],
  ['SIGTERM', 4],
] as const)(
  'a scheduler that %s ends amid a night: the next start goes on, and there is one run',
  async (signal, code) => {
    const { site, url } = await makeSite();
    const before = searches();
    sandbox.setFaults([{ path: '/aml/search', afterCalls: 12, times: 1_000, delayMs: 2_000 }]);
    const first = startScheduler(site);
    await waitFor(() => searches() - before >= 12);
    first.child.kill(signal);
    const [exitCode] = await first.closed;
    expect(exitCode).toBe(code);
    sandbox.setFaults([]);
    const heirs = [startScheduler(site), startScheduler(site)];
    await waitFor(() => heirs.some(({ log }) => log.text().includes('"msg":"job_finished')));
    await delay(2 * secondMs);
    for (const { child } of heirs) child.kill('SIGTERM');
    expect((await Promise.all(heirs.map(({ closed }) => closed))).map(([end]) => end)).toEqual([0, 0]);
    const { jobs, runs } = await readOutcome(url);
    expect(jobs).toMatchObject([{ job: 'rescreen', state: 'finished', attempts: 2 }]);
    expect(runs).toHaveLength(1);
    expect(heirs.filter(({ log }) => log.text().includes('job_started'))).toHaveLength(1);
  },
  180_000,
);

test('two schedulers on one database: the night is run by one of them', async () => {
  const { site, url } = await makeSite();
  const both = [startScheduler(site), startScheduler(site)];
  await waitFor(() => both.some(({ log }) => log.text().includes('"msg":"job_finished')));
  await delay(2 * secondMs);
  for (const { child } of both) child.kill('SIGTERM');
  await Promise.all(both.map(({ closed }) => closed));
  const { jobs, runs } = await readOutcome(url);
  expect(jobs).toMatchObject([{ state: 'finished', attempts: 1 }]);
  expect(runs).toHaveLength(1);
}, 120_000);
