import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { readColumn } from '../../src/store/database/database.js';
import { collect, makeCliSite, runCli, runInProcess, startCli } from '../helpers/cli-process.js';
import { createLogin } from '../helpers/database-servers.js';
import { testDatabases, toWorkerGrants } from '../helpers/databases.js';
import { findFreePort } from '../helpers/loopback.js';
import { listUnnamedCommands } from '../helpers/report-files.js';
import { listSearches } from '../helpers/small-site.js';
import { makeCustomerNames, people, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

const common = `fleet: true
log: { level: debug }
service: { mode: test, rate: { perSecond: 200, concurrency: 16 } }
`;
const single = `${common}controls: [{ type: person, name: Control Listed, expect: match }]
rosters: [{ name: people, csv: { path: people.csv } }]
`;

async function makeSite(
  customers: number,
  configuration = single,
  service: Pick<Sandbox, 'url' | 'privateKey'> = sandbox,
) {
  const location = await databases.locate();
  const files = { 'people.csv': toCsv(makeCustomerNames(customers)), 'nightscreen.config.yaml': configuration };
  return { location, ...(await makeCliSite(files, service, location.url)) };
}
type Site = Awaited<ReturnType<typeof makeSite>>;

/** A worker in a process of its own; `waitFor` waits for what it logs. */
function startWorker(site: Site, ...words: readonly string[]) {
  const child = startCli(['worker', ...words], site);
  onTestFinished(() => void child.kill('SIGKILL'));
  const log = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  const waitFor = async (sign: RegExp): Promise<void> => {
    for (let round = 0; round < 1_200 && !sign.test(log.text()) && child.exitCode === null; round += 1) await delay(25);
    expect(log.text()).toMatch(sign);
  };
  return {
    log,
    waitFor,
    /** Sends signals a moment after one another; gives how and how fast it ended after the first. */
    stop: async (...signals: readonly NodeJS.Signals[]) => {
      const beganMs = performance.now();
      for (const signal of signals) {
        child.kill(signal);
        await delay(100);
      }
      await closed;
      return { exitCode: child.exitCode, seconds: (performance.now() - beganMs) / 1_000 };
    },
  };
}

const readFigure = (text: string, name: string): number =>
  Number(new RegExp(`^nightscreen_${name} (\\d+)$`, 'm').exec(text)?.[1]);

test('a worker says when it is ready, serves metrics and health, searches, and ends with 0 at SIGTERM', async () => {
  const site = await makeSite(60);
  expect((await runInProcess(['import'], site)).exitCode).toBe(0);
  const port = await findFreePort();
  const worker = startWorker(site, '--concurrency', '4', '--metrics', `127.0.0.1:${port}`);
  await worker.waitFor(/"account":"account \.\.\.\w{4} at http:.*"perSecond":200,"concurrency":4,"msg":"worker_ready"/);
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' });
  expect(await ask('/readyz')).toEqual({
    status: 200,
    text: 'database: reachable, schema up to date\nworker: running\n',
  });
  const before = await ask('/metrics');
  expect([readFigure(before.text, 'open_chunks'), readFigure(before.text, 'workers')]).toEqual([0, 1]);
  expect(before.text).not.toMatch(/^nightscreen_(facts|customers|jobs)/m);
  const night = await runInProcess(['rescreen', '--json'], site);
  expect(JSON.parse(night.stdout)).toMatchObject({ state: 'complete', counts: { screened: 60 } });
  await worker.waitFor(/"level":"debug".*"searches":\d+,"seconds":[\d.]+,"msg":"chunk_finished"/);
  expect((await ask('/metrics')).text).toMatch(
    /nightscreen_service_attempts_total\{operation="aml.search",result="ok"\} 60/,
  );
  const ended = await worker.stop('SIGTERM');
  expect(ended.exitCode, worker.log.text()).toBe(0);
  expect(ended.seconds).toBeLessThan(2);
});

/** A worker amid answers that never come, with the process of the run. */
async function hangWorker(site: Site) {
  const before = listSearches(sandbox).length;
  const worker = startWorker(site, '--concurrency', '4');
  await worker.waitFor(/worker_ready/);
  sandbox.setFaults([{ path: '/aml/search', times: 10_000, afterCalls: 11, hang: 'before_headers' }]);
  onTestFinished(() => sandbox.setFaults([]));
  const run = startCli(['rescreen', '--json'], site);
  onTestFinished(() => void run.kill('SIGKILL'));
  run.stderr?.resume();
  const report = collect(run.stdout);
  const ended = once(run, 'close');
  while (listSearches(sandbox).length - before < 15) await delay(10);
  await delay(300);
  // The control search is the run's own; the others are four that hang beside those with an answer.
  expect(listSearches(sandbox).length - before).toBe(15);
  const finish = async (): Promise<unknown> => {
    await ended;
    return JSON.parse(report.text());
  };
  return { worker, finish };
}

test('SIGTERM amid answers that hang ends a worker with 0 within 8 seconds, and another one makes its searches', async () => {
  const site = await makeSite(60);
  const { worker, finish } = await hangWorker(site);
  const ended = await worker.stop('SIGTERM');
  expect(ended.exitCode, worker.log.text()).toBe(0);
  expect(ended.seconds).toBeLessThan(8);
  sandbox.setFaults([]);
  const next = startWorker(site);
  expect(await finish()).toMatchObject({ state: 'complete', counts: { screened: 60, failed: 0 } });
  expect((await next.stop('SIGTERM')).exitCode).toBe(0);
  const database = await databases.open(site.location);
  expect(
    await readColumn(database, z.number(), `select count(*)::integer from call where outcome = 'unknown'`),
  ).toEqual([4]);
  expect(await readColumn(database, z.string(), 'select distinct state from chunk')).toEqual(['done']);
}, 60_000);

test('a second signal ends a worker at once', async () => {
  const { worker } = await hangWorker(await makeSite(60));
  const ended = await worker.stop('SIGTERM', 'SIGTERM');
  expect(ended.exitCode).toBe(4);
  expect(ended.seconds).toBeLessThan(2);
});

test('a worker ends at SIGTERM also while the service answers nothing from the start', async () => {
  const site = await makeSite(3);
  expect((await runInProcess(['import'], site)).exitCode).toBe(0);
  sandbox.setFaults([{ times: 10_000, hang: 'before_headers' }]);
  onTestFinished(() => sandbox.setFaults([]));
  const worker = startWorker(site);
  await delay(3_000);
  const ended = await worker.stop('SIGTERM');
  expect(ended.exitCode, worker.log.text()).toBe(0);
  expect(ended.seconds).toBeLessThan(8);
});

test('of two organisations the one whose key is refused is named at once, and the other is served', async () => {
  const entry = (name: string, key: string) => `  - name: ${name}
    apiKeyEnv: ${key}
    controls: [{ type: person, name: Control Listed, expect: match }]
    rosters: [{ name: people, csv: { path: people.csv } }]
`;
  const site = await makeSite(
    20,
    `${common}organisations:\n${entry('north', 'NORTH_KEY')}${entry('south', 'SOUTH_KEY')}`,
  );
  const { NIGHTSCREEN_API_KEY: key = '', ...others } = site.environment;
  const refused = 'private_sandbox_refused_refused_refused';
  const known = { ...site, environment: { ...others, NORTH_KEY: key, SOUTH_KEY: refused } };
  for (const name of ['north', 'south']) {
    expect((await runInProcess(['import', '--organisation', name], known)).exitCode).toBe(0);
  }
  const port = await findFreePort();
  const worker = startWorker(known, '--metrics', `127.0.0.1:${port}`);
  await worker.waitFor(/"organisation":"north".*worker_ready/);
  await worker.waitFor(/"level":"error".*"organisation":"south".*"code":"account".*worker_failed/);
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await ask('/readyz')).toMatch(/^worker: running\nsouth: blocked \(account\)\n$/m);
  expect(listUnnamedCommands(worker.log.text(), '(?:north|south)')).toEqual([]);
  const figures = await ask('/metrics');
  expect(figures.match(/^nightscreen_workers.*$/gm)).toEqual([
    'nightscreen_workers{organisation="north"} 1',
    'nightscreen_workers{organisation="south"} 0',
  ]);
  const night = await runInProcess(['rescreen', '--organisation', 'north', '--json'], known);
  expect(JSON.parse(night.stdout)).toMatchObject({ state: 'complete', counts: { screened: 20 } });
  expect((await worker.stop('SIGTERM')).exitCode, worker.log.text()).toBe(0);
});

test('a login with the rights of docs/scaling.md alone is enough for a worker, and cannot end a run or decide', async () => {
  const site = await makeSite(0);
  await writeFile(join(site.folder, 'people.csv'), toCsv(people));
  expect((await runInProcess(['import'], site)).exitCode).toBe(0);
  const owner = await databases.open(site.location);
  const grants = (login: string): string => toWorkerGrants(login).join('\n');
  const { login, url } = await createLogin(owner, 'worker', grants);
  const worker = startWorker({ ...site, environment: { ...site.environment, DATABASE_URL: url } });
  await worker.waitFor(/worker_ready/);
  const night = async (words: readonly string[]): Promise<unknown> =>
    JSON.parse((await runInProcess(words, site)).stdout);
  const [first, , , last] = people;
  const search = { path: '/aml/search' };
  sandbox.setFaults([
    // First, because the other one lets two searches pass.
    { ...search, name: last, times: 9, status: 422 },
    { ...search, status: 429, retryAfter: '1', afterCalls: 2 },
  ]);
  onTestFinished(() => sandbox.setFaults([]));
  expect(await night(['rescreen', '--json'])).toMatchObject({
    state: 'incomplete',
    counts: { screened: 5, failed: 1 },
  });
  // Another kind of change, with another answer.
  const changed = watchlist.map((entry) =>
    entry.name === first ? { ...entry, topics: ['role.pep', 'sanction'] } : entry,
  );
  sandbox.setWorld({ watchlist: changed, dossiers: [] });
  onTestFinished(() => sandbox.setWorld({ watchlist, dossiers: [] }));
  sandbox.setFaults([]);
  expect(await night(['screen', '--all', '--json'])).toMatchObject({ state: 'complete', counts: { screened: 6 } });
  expect(worker.log.text()).not.toMatch(/permission denied|"level":"error"/);
  expect((await worker.stop('SIGTERM')).exitCode, worker.log.text()).toBe(0);
  const joined = `select owner from run_worker where has_joined`;
  expect(await readColumn(owner, z.string(), joined)).toHaveLength(2);
  const limited = await databases.open({ url });
  for (const refused of [
    `update run set state = 'complete'`,
    'delete from call',
    'insert into disposition default values',
    'select from evidence_key',
  ]) {
    await expect(limited.execute(refused), `${login}: ${refused}`).rejects.toThrow(/permission denied/);
  }
}, 60_000);

test('a worker whose login lacks a right names it before it makes calls; one that loses it gives its chunk back', async () => {
  const site = await makeSite(60);
  expect((await runInProcess(['import'], site)).exitCode).toBe(0);
  const owner = await databases.open(site.location);
  const { login, url } = await createLogin(owner, 'worker', (name) => toWorkerGrants(name).join('\n'));
  const limited = { ...site, environment: { ...site.environment, DATABASE_URL: url } };
  await owner.execute(`revoke insert on response from ${login}`);
  const lacking = await runCli(['worker'], limited);
  expect(lacking.exitCode, lacking.stderr).toBe(2);
  expect(lacking.stderr).toMatch(/its login lacks INSERT on response: .*docs\/scaling\.md/);
  await owner.execute(`grant insert on response to ${login}`);
  const losing = startWorker(limited);
  await losing.waitFor(/worker_ready/);
  await owner.execute(`revoke insert on response from ${login}`);
  const night = runInProcess(['rescreen', '--json'], site);
  await losing.waitFor(/permission denied for table response/);
  expect((await losing.stop()).exitCode, losing.log.text()).toBe(1);
  const able = startWorker(site);
  expect(JSON.parse((await night).stdout)).toMatchObject({ state: 'complete', counts: { screened: 60, failed: 0 } });
  expect((await able.stop('SIGTERM')).exitCode).toBe(0);
  expect(await readColumn(owner, z.string(), 'select distinct state from chunk')).toEqual(['done']);
}, 60_000);
