import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';

const folder = await mkdtemp(join(tmpdir(), 'nightscreen-nothing-'));

async function run(words: string, environment: Record<string, string>, site = folder) {
  const { invocation, terminal } = makeInvocation(site);
  const exitCode = await runCommandLine({
    words: words.split(' '),
    environment,
    folder: site,
    terminal: invocation.terminal,
  });
  return { exitCode, ...terminal };
}

const doctorSchema = z.object({
  checks: z.array(z.object({ check: z.string(), state: z.string(), message: z.string(), next: z.string().nullable() })),
});

async function examine(environment: Record<string, string>) {
  const { exitCode, stdout } = await run('doctor --json', environment);
  const { checks } = doctorSchema.parse(JSON.parse(stdout));
  const about = (check: string) => checks.find((finding) => finding.check === check);
  return { exitCode, database: about('database'), rosters: about('rosters') };
}

describe('a Postgres database without anything of ours', () => {
  const databases = testDatabases('postgres');
  let url = '';
  beforeAll(async () => {
    url = (await databases.locateEmpty()).url ?? '';
  });
  const countTables = async (): Promise<unknown> => {
    const database = await databases.open({ url });
    return database.query(
      z.object({ n: z.number() }),
      `select count(*) as n from pg_tables where schemaname = 'public'`,
    );
  };

  it('is not taken for one that says "nothing yet", and gets no schema by a look', async () => {
    for (const words of ['runs', 'status', 'outbox', 'schedule show', 'db backup all.backup']) {
      const { exitCode, stdout, stderr } = await run(words, { DATABASE_URL: url });
      expect([words, exitCode, stdout]).toEqual([words, 2, '']);
      expect(stderr).toMatch(/the database \S+\/test_\w+ has no tables of Nightscreen/);
      expect(stderr).toMatch(/"next":".*DATABASE_URL/);
    }
    expect(await countTables()).toEqual([{ n: 0 }]);
    expect(await readdir(folder)).not.toContain('all.backup');
  });

  it('is told by the doctor, who changes nothing either', async () => {
    const { database } = await examine({ DATABASE_URL: url });
    expect(database).toMatchObject({ state: 'warn', message: expect.stringMatching(/\/test_\w+ has no tables/) });
    expect(await countTables()).toEqual([{ n: 0 }]);
  });
});

describe('an embedded database whose making was killed', () => {
  it('is none to what only reads', async () => {
    const data = join(folder, 'killed');
    await mkdir(join(data, 'pgdata'), { recursive: true });
    await writeFile(join(data, 'pgdata.incomplete'), '');
    const { exitCode, stderr } = await run('runs', { NIGHTSCREEN_DATA: data });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`there is no database at ${data},`)]);
    expect((await readdir(data)).toSorted()).toEqual(['pgdata', 'pgdata.incomplete']);
  });
});

describe('a command that creates a database', () => {
  const databases = testDatabases('postgres');
  const importInto = async (site: string, environment: Record<string, string>) => {
    const file = join(site, 'people.csv');
    await writeFile(file, 'customer_id,type,name\n1,person,Ada Beispiel\n');
    const places = { NIGHTSCREEN_REPORTS: join(site, 'reports'), NIGHTSCREEN_DATA: join(site, '.nightscreen') };
    const { exitCode, stderr } = await run(
      `import --roster people --file ${file}`,
      { ...places, ...environment },
      site,
    );
    const [warning = null] = /.*\[?second_database.*/.exec(stderr) ?? [];
    return { exitCode, warning };
  };
  const openSite = () => mkdtemp(join(folder, 'site-'));

  it('warns where Postgres is empty beside reports of earlier runs or an embedded database, the first time only', async () => {
    const site = await openSite();
    const report = join(site, 'reports', 'rescreen-000001');
    await mkdir(report, { recursive: true });
    await mkdir(join(site, '.nightscreen', 'events'), { recursive: true });
    const importIntoEmpty = async () => {
      const { url = '' } = await databases.locateEmpty();
      return [await importInto(site, { DATABASE_URL: url }), await importInto(site, { DATABASE_URL: url })];
    };
    const silent = { exitCode: 0, warning: null };
    expect(await importIntoEmpty()).toEqual([silent, silent]);
    await writeFile(join(report, 'manifest.json'), '{}');
    const beside = (data: string) => ({
      exitCode: 0,
      warning: expect.stringMatching(`created at \\S+/test_\\w+, beside earlier data: ${data}\\.`),
    });
    const reports = `reports of earlier runs in ${join(site, 'reports')}`;
    expect(await importIntoEmpty()).toEqual([beside(reports), silent]);
    await mkdir(join(site, '.nightscreen', 'pgdata'));
    const both = `a database at ${join(site, '.nightscreen')}, ${reports}`;
    expect(await importIntoEmpty()).toEqual([beside(both), silent]);
  });
});

describe('doctor where no night could run', () => {
  it('does not say that all is well in an empty folder, and names the place without making anything', async () => {
    const data = join(folder, 'none');
    const { exitCode, database, rosters } = await examine({ NIGHTSCREEN_DATA: data });
    expect(exitCode).toBe(3);
    expect(database).toMatchObject({ state: 'warn', message: `there is none yet at ${data}` });
    expect(rosters).toMatchObject({ state: 'fail', next: expect.stringMatching(/`nightscreen init`.*--config.*demo/) });
    expect(await readdir(folder)).not.toContain('none');
  });

  describe('with a database that is up to date', () => {
    const databases = testDatabases('postgres');

    it('warns only where rosters came from files, whose rejected row is accepted until a day, and fails where none ever came', async () => {
      const location = await databases.locate();
      const environment = { DATABASE_URL: location.url ?? '' };
      expect((await examine(environment)).rosters).toMatchObject({ state: 'fail' });
      const file = join(folder, 'retail.csv');
      await writeFile(file, 'customer_id,type,name\n1,person,Ada Beispiel\n2,robot,Bob\n');
      expect(await run(`import --roster retail --file ${file}`, environment)).toMatchObject({ exitCode: 0 });
      expect((await examine(environment)).rosters).toMatchObject({
        state: 'warn',
        message: expect.stringContaining('retail'),
      });
      const except = await run('roster except --all --until 2099-12-31 --reason late', environment);
      expect(except).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^1 gap accepted until 2099-12-31/) });
    });

    it('says nothing of it where one is configured', async () => {
      const file = join(folder, 'with.yaml');
      await writeFile(file, 'rosters: [{ name: people, csv: { path: people.csv } }]\n');
      const location = await databases.locate();
      const { rosters } = await examine({ DATABASE_URL: location.url ?? '', NIGHTSCREEN_CONFIG: file });
      expect(rosters).toBeUndefined();
    });
  });
});

describe('the gates where nothing is known', () => {
  const databases = testDatabases('postgres');

  it('do not pass on no roster, and name a configured one that was never imported', async () => {
    const site = await mkdtemp(join(folder, 'gates-'));
    const location = { DATABASE_URL: (await databases.locate()).url ?? '' };
    const file = join(site, 'two.yaml');
    await writeFile(
      file,
      'rosters: [{ name: corporate, csv: { path: c.csv } }, { name: retail, csv: { path: r.csv } }]\n',
    );
    await writeFile(join(site, 'r.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n');
    const gate = async (words: string, configured = true) => {
      const environment = { ...location, ...(configured ? { NIGHTSCREEN_CONFIG: file } : {}) };
      const { exitCode, stdout, stderr } = await run(words, environment, site);
      return { exitCode, stderr, text: stdout, document: () => JSON.parse(stdout) };
    };

    const empty = await gate('coverage --json', false);
    expect(empty.document()).toMatchObject({ isCovered: false, neverImported: [], total: { inScope: 0 } });
    expect(empty.exitCode).toBe(3);
    const header = await gate('status', false);
    expect(header).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('No customer is in scope') });
    expect(header.text).toMatch(/^\uFEFFroster,customer_id,[^\n]*,state,[^\n]*\n$/);
    const neverImported = ['corporate', 'retail'];
    const coverage = await gate('coverage');
    expect(coverage).toMatchObject({
      exitCode: 3,
      text: expect.stringContaining('never imported: corporate, retail.'),
    });
    const one = await gate('coverage --roster retail --json');
    expect([one.exitCode, one.document()]).toMatchObject([3, { isCovered: false, neverImported: ['retail'] }]);
    const status = await gate('status --json');
    expect([status.exitCode, status.document()]).toMatchObject([3, { rosters: [], neverImported, customers: [] }]);
    const written = await gate('status --out status.csv --json');
    expect([written.exitCode, written.document()]).toMatchObject([3, { neverImported, exported: 0 }]);
    expect(await gate('coverage --roster nobody')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/roster nobody was never imported/),
    });
    expect(await gate('import --roster retail')).toMatchObject({ exitCode: 0 });
    const half = await gate('coverage --json');
    expect([half.exitCode, half.document()]).toMatchObject([3, { isCovered: false, neverImported: ['corporate'] }]);
    const known = await gate('status --json');
    expect([known.exitCode, known.document()]).toMatchObject([
      3,
      { rosters: ['retail'], neverImported: ['corporate'], customers: [{ reference: '1', state: 'not_screened' }] },
    ]);
  });
});
