import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { makeCliSite, runInProcess } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { findFreePort } from '../../helpers/loopback.js';
import { people, toCsv, watchlist } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

const settings = `
rosters: [{ name: people, csv: { path: people.csv } }]
controls: [{ type: person, name: Control Listed, expect: match }]
`;

/** A folder in which this configuration finds a roster and a new database. */
async function makeSite(configuration: string, environment: Readonly<Record<string, string>> = {}) {
  const files = { 'people.csv': toCsv(people), 'nightscreen.config.yaml': configuration };
  const site = await makeCliSite(files, sandbox, (await databases.locate()).url);
  return { ...site, environment: { ...site.environment, ...environment } };
}

/** The lines of standard error that say why a command or a run failed; every line there is JSON. */
async function findFaults(words: string, site: Awaited<ReturnType<typeof makeSite>>) {
  const { exitCode, stdout, stderr } = await runInProcess(words.split(' '), site);
  const lines = stderr.split('\n').filter((line) => line !== '');
  const faults = lines
    .map((line) => JSON.parse(line))
    .filter(({ level, msg, state }) => level === 'error' || (msg === 'run_finished' && state !== 'complete'));
  return { exitCode, stdout, faults };
}

describe('where standard error is no terminal, a fault is one line of JSON', () => {
  it('for a usage error, a wrong setting and several', async () => {
    const site = await makeSite(settings);
    for (const words of ['scren', 'runs --limt 3', 'rescreen --roster nobody', 'runs show 99', '']) {
      const { exitCode, faults } = await findFaults(words, site);
      expect([words, exitCode, faults]).toEqual([words, 2, [expect.objectContaining({ msg: 'command_failed' })]]);
    }
    const wrong = await findFaults('rescreen', await makeSite('service: { mood: test }\nscreening: { mood: 1 }\n'));
    expect(wrong).toMatchObject({
      exitCode: 2,
      stdout: '',
      faults: [{ problems: [{}, {}], next: expect.any(String) }],
    });
  });

  it('for a database that is away, and a service that refuses the key or never answered', async () => {
    const away = { DATABASE_URL: `postgres://nobody@127.0.0.1:${await findFreePort()}/none` };
    const faultOf = async (environment: Record<string, string>) =>
      findFaults('rescreen', await makeSite(settings, environment));
    expect(await faultOf(away)).toMatchObject({ exitCode: 1, faults: [{ code: 'database_unreachable' }] });
    const refused = await faultOf({ NIGHTSCREEN_API_KEY: 'private_sandbox_wrong' });
    expect(refused).toMatchObject({
      exitCode: 4,
      faults: [{ msg: 'run_finished', state: 'stopped', roster: 'people' }],
    });
    const silent = await faultOf({ NIGHTSCREEN_BASE_URL: `http://127.0.0.1:${await findFreePort()}/v1` });
    expect(silent).toMatchObject({ exitCode: 4, faults: [{ msg: 'run_finished', roster: 'people' }] });
  });

  it('for each roster of a night, by hand and by schedule, and not again in the result', async () => {
    const rosters = settings.replace('[{ name: people,', '[{ name: first, csv: { path: first.csv } }, { name: people,');
    const site = await makeSite(rosters);
    await writeFile(join(site.folder, 'first.csv'), 'not,a,roster\n1,2,3\n');
    for (const words of ['rescreen', 'schedule run rescreen']) {
      const { exitCode, stdout, faults } = await findFaults(words, site);
      expect([words, exitCode]).not.toEqual([words, 0]);
      const reason = expect.stringMatching(/ended for the reason above/);
      const failed = { msg: 'roster_failed', roster: 'first', message: reason, next: expect.any(String) };
      expect(faults).toMatchObject([{ reasons: [expect.stringContaining('no column')] }, failed]);
      if (words === 'rescreen') expect(stdout).not.toContain('no column');
    }
  });

  it('for a report that cannot be written after its run', async () => {
    const site = await makeSite(settings);
    await mkdir(join(site.folder, 'reports'));
    await writeFile(join(site.folder, 'reports', `${new Date().toISOString().slice(0, 10)}-rescreen-1`), '');
    const { exitCode, faults } = await findFaults('rescreen', site);
    expect([exitCode, faults]).toMatchObject([
      1,
      [{ msg: 'roster_failed', runId: expect.stringContaining('rescreen-1') }],
    ]);
  });

  it('for an error that nobody caught', async () => {
    const site = await makeSite(settings);
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const ending = findFaults('runs', site);
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.listeners('uncaughtException').at(-1)?.(new Error('nobody caught this'), 'uncaughtException');
    const { faults } = await ending;
    expect(exit.mock.calls).toEqual([[1]]);
    exit.mockRestore();
    expect(faults).toContainEqual(expect.objectContaining({ code: 'unexpected', message: 'nobody caught this' }));
  });
});
