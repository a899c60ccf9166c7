import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { saveJobSchedules } from '../../src/store/operations/jobs.js';
import { ensureOrganisation } from '../../src/store/organisations.js';
import { type CliOptions, collect, makeCliSite, runInProcess, startCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { listUnnamedCommands } from '../helpers/report-files.js';
import { listSearches } from '../helpers/small-site.js';
import { controls, makeCustomerNames, people, toCsv, watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const north = await startSandbox({ world: { watchlist, dossiers: [] } });
const south = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => Promise.all([north.close(), south.close()]));

// One roster name, one set of references, one recipient, two accounts; and a third organisation whose key is missing.
const toConfiguration = (cron: string): string => `service: { rate: { perSecond: 200, concurrency: 4 } }
mail: { transport: file, from: desk@bank.example, to: [group@bank.example], recipients: [{ to: boss@bank.example, kinds: [group] }] }
controls: ${JSON.stringify(controls)}
jobs: { rescreen: "${cron}", sweep: off, report: off }
organisations:
  - name: north
    apiKeyEnv: NORTH_KEY
    service: { baseUrl: "${north.url}" }
    rosters: [{ name: people, csv: { path: north.csv } }]
  - name: south
    apiKeyEnv: SOUTH_KEY
    service: { baseUrl: "${south.url}" }
    rosters: [{ name: people, csv: { path: south.csv } }]
  - name: east
    apiKeyEnv: EAST_KEY
    service: { baseUrl: "${south.url}" }
    rosters: [{ name: people, csv: { path: south.csv } }]
`;

function startScheduler(site: CliOptions) {
  const child = startCli(['schedule', '--metrics', '127.0.0.1:0'], site);
  onTestFinished(() => void child.kill('SIGKILL'));
  const log = collect(child.stderr);
  child.stdout?.resume();
  const closed = once(child, 'close');
  const find = (organisation: string, message: RegExp) =>
    log
      .text()
      .split('\n')
      .filter((line) => line.includes(`"organisation":"${organisation}"`) && message.test(line));
  const waitFor = async (organisation: string, message: RegExp): Promise<void> => {
    for (let round = 0; round < 1_200 && find(organisation, message).length === 0; round += 1) await delay(50);
    expect(find(organisation, message), log.text()).not.toEqual([]);
  };
  const stop = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> => {
    child.kill(signal);
    return (await closed)[0];
  };
  return { log, find, waitFor, stop };
}

/** The next `schedule` finds the night due, as one that has run for days. */
async function planNight(url: string): Promise<string> {
  const due = new Date(Date.now() - 1_000);
  const cron = `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const database = await databases.open({ url });
  const before = new Date(Date.now() - 3_600_000);
  for (const name of ['north', 'south', 'east']) {
    const { organisationId } = await ensureOrganisation(database, name, before);
    const schedules = [{ job: 'rescreen', cron, timezone: 'UTC' }];
    await saveJobSchedules(database, organisationId, schedules, { areAll: false, now: before });
  }
  return cron;
}

const allSchema = z.object({
  organisations: z.array(z.object({ organisation: z.string(), exitCode: z.number(), document: z.unknown() })),
});

async function readReadiness(log: string): Promise<{ status: number; text: string }> {
  const [, port = ''] = /"port":(\d+)/.exec(log) ?? [];
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, text: await answer.text() };
}

test('two organisations with the same roster and references in their second week: a decision, an outage of one account, a kill', {
  timeout: 300_000,
}, async () => {
  const { url = '' } = await databases.locate();
  const files = {
    'north.csv': toCsv(people),
    'south.csv': toCsv(people),
    'nightscreen.config.yaml': toConfiguration('off'),
  };
  const { folder } = await makeCliSite(files, north, url);
  const keyFile = join(folder, 'south.key');
  await writeFile(keyFile, south.privateKey);
  const environment = { DATABASE_URL: url, NORTH_KEY: north.privateKey, SOUTH_KEY_FILE: keyFile };
  const site = { folder, environment };
  const cli = (...words: string[]) => runInProcess(words, site);
  const statesOf = async (organisation: string): Promise<string> => {
    await cli('status', '--out', `${organisation}.status.csv`, '--organisation', organisation);
    return readFile(join(folder, `${organisation}.status.csv`), 'utf8');
  };

  // The first week.
  for (const name of ['north', 'south'])
    expect(await cli('rescreen', '--organisation', name)).toMatchObject({ exitCode: 0 });
  expect(await cli('rescreen')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('north, south, east') });
  await cli('review', 'export', '--out', 'list.csv', '--organisation', 'north');
  const [header = '', first = ''] = (await readFile(join(folder, 'list.csv'), 'utf8')).split('\r\n');
  const titles = header.split(',').map((title) => title.replaceAll(/["\uFEFF]/g, ''));
  const cells = first.split(',');
  cells[titles.indexOf('disposition')] = 'false positive';
  cells[titles.indexOf('reason')] = 'another birth date';
  await writeFile(join(folder, 'decided.csv'), `${header}\r\n${cells.join(',')}\r\n`);
  const decide = (name: string) => cli('review', 'import', 'decided.csv', '--apply', '--organisation', name);
  expect(await decide('south')).toMatchObject({ exitCode: 2 });
  expect(await decide('north')).toMatchObject({ exitCode: 0 });

  // The second: both have new customers, the account of south is out of reach, and the key of east is missing.
  const grown = toCsv([...people, ...makeCustomerNames(30)]);
  await writeFile(join(folder, 'north.csv'), grown);
  await writeFile(join(folder, 'south.csv'), grown);
  await writeFile(join(folder, 'nightscreen.config.yaml'), toConfiguration(await planNight(url)));
  south.setFaults([{ path: '/aml/search', afterCalls: listSearches(south).length + 10, status: 503, times: 100_000 }]);
  const before = { north: listSearches(north).length, south: listSearches(south).length };
  const scheduler = startScheduler(site);
  await scheduler.waitFor('north', /job_finished"/);
  await scheduler.waitFor('east', /EAST_KEY.*schedule_blocked/);
  await scheduler.waitFor('south', /job_started/);
  expect(scheduler.find('south', /job_finished/)).toEqual([]);
  const [, port = ''] = /"port":(\d+)/.exec(scheduler.log.text()) ?? [];
  const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(figures).toMatch(/^nightscreen_night_state\{roster="people",state="complete",organisation="north"\} 1$/m);
  expect(figures).toMatch(/^nightscreen_jobs_total\{job="rescreen",outcome="finished",organisation="north"\} 1$/m);
  expect(figures).not.toMatch(/jobs_total\{.*organisation="south"/);
  await scheduler.stop('SIGKILL');
  const afterNorth = listSearches(north).length;
  expect(afterNorth).toBeGreaterThan(before.north + 30);

  // The restart, after the outage: south goes on, north has nothing to do.
  south.setFaults([]);
  const second = startScheduler(site);
  await second.waitFor('south', /job_finished"/);
  expect(await second.stop('SIGTERM')).toBe(0);
  expect(second.find('north', /job_started/)).toEqual([]);
  expect(listSearches(north).length).toBe(afterNorth);

  const runs = allSchema.parse(JSON.parse((await cli('runs', '--json')).stdout));
  const runSchema = z.object({ runs: z.array(z.object({ state: z.string() })) });
  const states = runs.organisations
    .slice(0, 2)
    .map(({ document }) => runSchema.parse(document).runs.map(({ state }) => state));
  expect(states).toEqual([
    ['complete', 'complete'],
    ['complete', 'complete'],
  ]);
  // The decision holds for its organisation alone.
  const countLines = async (organisation: string, state: string): Promise<number> =>
    (await statesOf(organisation)).split('\n').filter((line) => line.includes(state)).length;
  expect([await countLines('north', 'false_positive'), await countLines('south', 'false_positive')]).toEqual([1, 0]);
  expect([await countLines('north', 'open_alert'), await countLines('south', 'open_alert')]).toEqual([1, 2]);
  for (const name of ['north', 'south']) {
    const { exitCode } = await cli('schedule', 'run', 'report', '--organisation', name);
    expect(exitCode).toBe(0);
  }
  // Reports and mails have a folder of each, and each mail to the common recipient names its organisation.
  const reports = join(folder, 'reports');
  expect((await readdir(reports)).toSorted()).toEqual(['east', 'north', 'south']);
  for (const [own, other] of [
    ['north', 'south'],
    ['south', 'north'],
  ] as const) {
    const mails = await readdir(join(reports, own, 'mail'));
    const texts = await Promise.all(mails.map((name) => readFile(join(reports, own, 'mail', name), 'utf8')));
    expect(texts.length).toBeGreaterThan(1);
    // The report over all rosters of it.
    expect(texts.filter((text) => /^To: boss@bank\.example\r$/m.test(text) && text.includes('1 roster'))).toHaveLength(
      1,
    );
    for (const text of texts) expect(text).toContain(own);
    for (const text of texts) expect(text).not.toContain(other);
    expect(
      [...texts, ...scheduler.find(own, /./), ...second.find(own, /./)].flatMap((text) =>
        listUnnamedCommands(text, own),
      ),
    ).toEqual([]);
  }
  const looked = allSchema.parse(JSON.parse((await cli('schedule', 'watchdog', '--json')).stdout));
  expect(looked.organisations.map(({ organisation }) => organisation)).toEqual(['north', 'south', 'east']);
  const doctor = await cli('doctor');
  expect(doctor.stdout).toMatch(/^east\n[\s\S]*fail +key +EAST_KEY is not set/m);

  // Settings are accepted by each on its own.
  const configured = await readFile(join(folder, 'nightscreen.config.yaml'), 'utf8');
  const changed = configured.replace('apiKeyEnv: NORTH_KEY', '$&\n    changes: { scoreStep: 0.05 }');
  await writeFile(join(folder, 'nightscreen.config.yaml'), changed);
  const accept = await cli('config', 'accept', '--reason', 'as agreed', '--organisation', 'north');
  expect(accept).toMatchObject({ exitCode: 0 });
  const all = allSchema.parse(JSON.parse((await cli('config', '--all', '--json')).stdout));
  const historySchema = z.object({ history: z.array(z.object({ reason: z.string() })) });
  const reasons = all.organisations.slice(0, 2).map(({ document }) => historySchema.parse(document).history);
  expect(reasons.map((history) => history.filter(({ reason }) => reason === 'as agreed').length)).toEqual([1, 0]);

  // An entry under another name begins anew, and says so before it costs anything; doctor says what is left behind.
  await writeFile(join(folder, 'nightscreen.config.yaml'), changed.replace('name: north', 'name: nroth'));
  const renamed = await cli('rescreen', '--organisation', 'nroth');
  expect(renamed.stderr).toMatch(
    /"code":"new_organisation","message":"organisation nroth has no data yet, beside 1 organ/,
  );
  expect((await cli('doctor', '--organisation', 'south')).stdout).toMatch(
    /^warn +organisations +the database has 1 organ/m,
  );
});

test('the nights of two slow accounts overlap: the slower one holds up no other, and each spends its own budget', {
  timeout: 300_000,
}, async () => {
  const { url = '' } = await databases.locate();
  const rows = toCsv(makeCustomerNames(60));
  const configuration = toConfiguration(await planNight(url))
    .replace('organisations:', 'budget: { maxSearchesPerMonth: 40 }\norganisations:')
    .replace('apiKeyEnv: NORTH_KEY', '$&\n    budget: { maxSearchesPerMonth: 200 }');
  const files = { 'north.csv': rows, 'south.csv': rows, 'nightscreen.config.yaml': configuration };
  const { folder } = await makeCliSite(files, north, url);
  const keys = { NORTH_KEY: north.privateKey, SOUTH_KEY: south.privateKey };
  const before = { north: listSearches(north).length, south: listSearches(south).length };
  north.setFaults([{ path: '/aml/search', delayMs: 100, times: 10_000 }]);
  south.setFaults([{ path: '/aml/search', delayMs: 500, times: 10_000 }]);
  onTestFinished(() => {
    for (const sandbox of [north, south]) sandbox.setFaults([]);
  });
  const site = { folder, environment: { DATABASE_URL: url, ...keys } };
  const scheduler = startScheduler(site);
  await scheduler.waitFor('south', /job_started/);
  await scheduler.waitFor('north', /"exitCode":0.*job_finished/);
  expect(scheduler.find('south', /job_finished/)).toEqual([]);
  expect(listSearches(south).length).toBeGreaterThan(before.south);
  expect(listSearches(north).length - before.north).toBeGreaterThanOrEqual(60);
  await scheduler.waitFor('south', /"exitCode":3.*the budget left out 24 customers.*job_finished/);
  expect(listSearches(south).length - before.south).toBe(40);

  // Who is blocked, and whose night is not complete, is told by name; a restart does not forget it.
  const named =
    /^scheduler: running\nsouth: rescreen of [\d-]{10} finished with problems \(3\)\neast: blocked \(config_invalid\)\n$/m;
  expect(await readReadiness(scheduler.log.text())).toEqual({ status: 200, text: expect.stringMatching(named) });
  expect(await scheduler.stop('SIGTERM')).toBe(0);
  const second = startScheduler(site);
  await second.waitFor('east', /schedule_blocked/);
  expect(await readReadiness(second.log.text())).toEqual({ status: 200, text: expect.stringMatching(named) });
  expect(await second.stop('SIGTERM')).toBe(0);
});
