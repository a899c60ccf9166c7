import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { findCli, quickStart, runInProcess } from '../helpers/cli-process.js';
import { seedDatabase, testDatabases } from '../helpers/databases.js';

const configuration = `
service: { rate: { perSecond: 200, concurrency: 4 } }
rosters:
  - name: retail
    csv: { path: retail.csv }
    columns: { id: number, name: [first, last], type: { value: person } }
  - { name: corporate, csv: { path: corporate.csv } }
mail: { transport: TRANSPORT, from: night@bank.example, to: [one@bank.example, two@bank.example] }
`;

const databases = testDatabases('postgres');
let database = '';
let folder: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-operations-'));
  ({ url: database = '' } = await databases.locate());
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration.replace('TRANSPORT', 'file'));
  writeFileSync(join(folder, 'smtp.yaml'), configuration.replace('TRANSPORT', 'smtp'));
  writeFileSync(join(folder, 'retail.csv'), 'number;first;last\n1;Ada;Beispiel\n2;;\n3;Émile;Exemple\n');
  writeFileSync(join(folder, 'corporate.csv'), 'customer_id,type,name\nK1,entity,Muster GmbH\n');
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const access = () => ({
  DATABASE_URL: database,
  NIGHTSCREEN_REPORTS: join(folder, 'reports'),
  NIGHTSCREEN_BASE_URL: sandbox.url,
  NIGHTSCREEN_API_KEY: sandbox.privateKey,
});

describe('an operator with two rosters and mail', () => {
  test('doctor names a roster that cannot be read and mail without its server, before the night', async () => {
    const well = await runInProcess(['doctor'], { folder, environment: access() });
    expect(well.stdout).toMatch(/^ok +roster retail/m);
    expect(well.exitCode).toBe(0);
    writeFileSync(
      join(folder, 'gone.yaml'),
      configuration.replace('TRANSPORT', 'smtp').replace('retail.csv', 'r-*.csv'),
    );
    const ill = await runInProcess(['doctor', '--config', 'gone.yaml'], { folder, environment: access() });
    expect(ill.exitCode).toBe(3);
    expect(ill.stdout).toMatch(/^fail +roster retail .*r-\*\.csv/m);
    expect(ill.stdout).toMatch(/^fail +mail .*SMTP_URL/m);
    const schedule = await runInProcess(['schedule', '--config', 'smtp.yaml'], { folder, environment: access() });
    expect(schedule).toMatchObject({ exitCode: 2 });
    expect(schedule.stderr).toContain('SMTP_URL');
  }, 60_000);

  test('rescreen runs both, and the rejected row can be found by its line', async () => {
    const night = await runInProcess(['rescreen', '--json'], { folder, environment: access() });
    // Of one customer there is no record: somebody has to accept that.
    expect(night.exitCode).toBe(3);
    const { runs } = JSON.parse(night.stdout);
    const sums = runs.map(({ counts }: { counts: Record<string, number> }) => [counts['screened'], counts['rejected']]);
    expect(sums).toEqual([
      [2, 1],
      [1, 0],
    ]);
    const shown = await runInProcess(['runs', 'show', runs[0].runId], {
      folder,
      environment: { DATABASE_URL: database },
    });
    expect(shown.stdout).toMatch(/^line 3 +2 +first: empty +no name$/m);
    const words = ['--roster', 'retail', '--all', '--until', '2999-12-31', '--reason', 'the branch sends it'];
    const excepted = await runInProcess(['roster', 'except', ...words], {
      folder,
      environment: { DATABASE_URL: database },
    });
    expect(excepted).toMatchObject({ exitCode: 0, stdout: '2  row_rejected  until 2999-12-31\n' });
  }, 60_000);

  test('report --send writes one message for each recipient to the folder', async () => {
    const { exitCode, stdout } = await runInProcess(['report', '--send', '--out', join(folder, 'for-review')], {
      folder,
      environment: access(),
    });
    expect(exitCode).toBe(3);
    expect(stdout.match(/^mail .*written to/gm)?.length).toBeGreaterThanOrEqual(2);
    const messages = readdirSync(join(folder, 'outgoing')).filter((name) => name.endsWith('.eml'));
    const read = await Promise.all(messages.map((name) => simpleParser(readFileSync(join(folder, 'outgoing', name)))));
    const recipients = new Set(
      read.flatMap(({ to }) => (Array.isArray(to) ? to : to ? [to] : [])).map(({ text }) => text),
    );
    expect([...recipients].toSorted()).toEqual(['one@bank.example', 'two@bank.example']);
    expect(new Set(read.map(({ subject }) => /^\[\w+\]/.exec(subject ?? '')?.[0]))).toEqual(
      new Set(['[COMPLETE]', '[PARTIAL]']),
    );
    expect(existsSync(join(folder, 'for-review'))).toBe(true);
  }, 60_000);

  test('a recipient whom the mail server refuses is named, the other gets the report, exit code 3', async () => {
    const accepted: string[] = [];
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('two') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
      onData: (stream, { envelope }, done) => {
        accepted.push(...envelope.rcptTo.map(({ address }) => address));
        stream.resume().on('end', () => done());
      },
    });
    const listening = server.listen(0, '127.0.0.1');
    await new Promise((resolve) => listening.once('listening', resolve));
    const address = listening.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const environment = { ...access(), SMTP_URL: `smtp://127.0.0.1:${port}` };
    const night = await runInProcess(['rescreen', '--roster', 'retail', '--config', 'smtp.yaml'], {
      folder,
      environment,
    });
    expect(night).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^mail +1 of 2 sent/m) });
    const sent = await runInProcess(['report', '--send', '--config', 'smtp.yaml'], { folder, environment });
    await new Promise<void>((resolve) => server.close(() => resolve()));
    expect(accepted).toEqual(['one@bank.example']);
    expect(sent.stdout).toMatch(/^mail +two@bank\.example: refused .*550/m);
    expect(sent.exitCode).toBe(3);
  }, 60_000);
});

test('a preview takes no file, because it would have to store what it reads', async () => {
  const { exitCode, stderr } = await runInProcess(['screen', '--dry-run', '--file', 'corporate.csv'], {
    folder,
    environment: access(),
  });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("'--dry-run' cannot be used with option '--file");
});

test('a URL without its version prefix is met with the advice to add it', async () => {
  const environment = { ...access(), NIGHTSCREEN_BASE_URL: sandbox.url.replace(/\/v1$/, '') };
  const { exitCode, stdout, stderr } = await runInProcess(['sweep', '--json'], { folder, environment });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'config_invalid' });
  expect(stderr).toContain('version prefix');
}, 60_000);

test.skipIf(!existsSync('/dev/full'))('standard output on a full disk is told in one line, exit code 1', () => {
  const full = openSync('/dev/full', 'w');
  const words = [findCli(), 'config'];
  const { stderr, status } = spawnSync(process.execPath, words, { cwd: folder, stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(stderr.toString()).toMatch(/^nightscreen: the output cannot be written: ENOSPC[^\n]*\n$/);
  expect(status).toBe(1);
});

test('a login that may only read is told so by whatever writes, with what to do, and nothing is searched', async () => {
  const { url = '' } = await databases.locate();
  const owner = await databases.open({ url });
  await owner.execute(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  const environment = { ...access(), DATABASE_URL: url };
  const countSearches = () => sandbox.ledger().filter(({ path }) => path === '/aml/search').length;
  const before = countSearches();
  for (const words of ['import --roster retail', 'rescreen', 'schedule pause']) {
    const { exitCode, stdout, stderr } = await runInProcess(words.split(' '), { folder, environment });
    expect([words, exitCode]).toEqual([words, 1]);
    expect(stdout + stderr).toMatch(
      /nightscreen: cannot execute \w+ in a read-only transaction .*\n {2}next: {2}the database is read-only: /,
    );
    expect(stdout + stderr).not.toMatch(/^ +at /m);
  }
  expect(countSearches()).toBe(before);
  expect(await runInProcess(['runs'], { folder, environment })).toMatchObject({ exitCode: 0 });
}, 60_000);

test('a folder of the embedded database that this user may not write to is told, with what to do', async () => {
  const site = mkdtempSync(join(tmpdir(), 'nightscreen-closed-'));
  onTestFinished(() => rmSync(site, { recursive: true }));
  writeFileSync(join(site, 'retail.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n');
  const { DATABASE_URL: _, ...environment } = access();
  const withoutRoot = process.geteuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const emit = (words: string) => {
    const [program = '', ...rest] = [...withoutRoot, process.execPath, ...quickStart, findCli(), ...words.split(' ')];
    const env = { PATH: process.env['PATH'], ...environment };
    return spawnSync(program, rest, { cwd: site, env, encoding: 'utf8' });
  };
  const refuse = (closed: string): void => {
    chmodSync(closed, 0o500);
    const { status, stderr } = emit('import --file retail.csv');
    chmodSync(closed, 0o700);
    expect([closed, status]).toEqual([closed, 2]);
    expect(stderr).toContain(`this user may not write to ${closed}`);
    expect(stderr).toContain('set database.folder (NIGHTSCREEN_DATA) to another folder');
    expect(stderr).not.toMatch(/^ +at /m);
  };
  refuse(site);
  await seedDatabase(site);
  refuse(join(site, '.nightscreen'));
}, 120_000);
