import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { makeCliSite, runInProcess } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';
import { people, toCsv, watchlist } from '../helpers/small-world.js';

const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

it('on the embedded database each printed command stores what it says, with the user and the configuration', async () => {
  const settings = 'rosters: [{ name: people, csv: { path: people.csv } }]\n';
  const site = await makeCliSite({ 'people.csv': toCsv(people), 'own.yaml': settings }, sandbox);
  await seedDatabase(site.folder);
  const cli = (words: readonly string[]) => runInProcess(words, site);
  const type = (printed: string, pattern: RegExp) => {
    const [command = ''] = pattern.exec(printed) ?? [];
    expect(command).not.toBe('');
    return cli(command.split(' ').slice(1));
  };
  expect(await cli(['onboard', '--config', 'own.yaml'])).toMatchObject({ exitCode: 0 });
  const exported = await cli(['review', 'export', '--config', 'own.yaml']);
  const list = join(site.folder, 'review.csv');
  const [header = '', first = '', second = ''] = (await readFile(list, 'utf8')).split('\r\n');
  expect(header.split(',')).toHaveLength(10);
  const filled = [header, first.replace(/^,,/, 'false positive,for\xf3,'), second].join('\r\n');
  await writeFile(list, Buffer.from(filled.replace('\ufeff', ''), 'latin1'));
  const named = await cli(['review', 'import', 'review.csv', '--apply', '--by', 'NAME', '--config', 'own.yaml']);
  expect(named).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--by: is the word NAME') });
  const preview = await type(exported.stdout, /nightscreen review import .*/);
  expect(preview.stdout).toMatch(/^encoding: windows-1252, by its letters; line 2 reads: for\xf3$/m);
  const stored = await type(preview.stdout, /nightscreen review import .*/);
  expect(stored).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^decided +1$/m) });

  await writeFile(
    join(site.folder, 'old.csv'),
    [
      'customer_id,listed_name,decision,reason,decided_by,decided_at',
      `${second.split(',')[4]},${second.split(',')[6]},true match,him,B,2021`,
    ].join('\n'),
  );
  const legacy = await cli(['review', 'import', '--legacy', 'old.csv', '--config', 'own.yaml']);
  const taken = await type(legacy.stdout, /nightscreen review import .*/);
  expect(taken).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^accepted for 90 days +1$/m) });
}, 120_000);

it('doctor checks each of several organisations in turn, and their scheduler is refused', async () => {
  const organisations = `organisations:
  - { name: north, apiKeyEnv: NORTH_KEY, rosters: [{ name: retail, csv: { path: a.csv } }] }
  - { name: south, apiKeyEnv: SOUTH_KEY, rosters: [{ name: retail, csv: { path: a.csv } }] }
`;
  const files = { 'nightscreen.config.yaml': organisations, 'a.csv': 'customer_id,type,name\n1,person,Ann\n' };
  const site = await makeCliSite(files, { url: 'http://127.0.0.1:9/v1', privateKey: '' });
  await seedDatabase(site.folder);
  const access = { ...site, environment: { ...site.environment, NORTH_KEY: 'private_sandbox_northnorth' } };
  const examined = await runInProcess(['doctor'], access);
  expect(examined.exitCode).toBe(3);
  const parts = examined.stdout.split(/^south$/m);
  expect(parts).toHaveLength(2);
  for (const part of parts) {
    expect(part).toMatch(/^ok +database +embedded in /m);
    expect(part).toContain('this login may read and write');
  }
  const scheduler = await runInProcess(['schedule'], access);
  expect(scheduler.exitCode).toBe(2);
  expect(scheduler.stderr).toContain('DATABASE_URL');
});

it('a database that is created warns of another one in the working folder, wherever it is itself', async () => {
  const files = { 'people.csv': 'customer_id,type,name\n1,person,Ada Beispiel\n' };
  const site = await makeCliSite(files, sandbox);
  const elsewhere = await makeCliSite({ 'nightscreen.config.yaml': 'log: { level: info }\n' }, sandbox);
  await mkdir(join(site.folder, '.nightscreen', 'pgdata'), { recursive: true });
  await seedDatabase(elsewhere.folder, '/empty');
  const words = ['import', '--roster', 'people', '--file', join(site.folder, 'people.csv')];
  const { exitCode, stderr } = await runInProcess(words, {
    ...site,
    environment: { ...site.environment, NIGHTSCREEN_CONFIG: join(elsewhere.folder, 'nightscreen.config.yaml') },
  });
  expect(exitCode, stderr).toBe(0);
  expect(/.*\[?second_database.*/.exec(stderr)?.[0]).toContain(
    `created at ${join(elsewhere.folder, '.nightscreen')}, beside earlier data: a database at ${join(site.folder, '.nightscreen')}.`,
  );
});
