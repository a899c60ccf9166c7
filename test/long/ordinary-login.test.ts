import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { makeInvocation } from '../helpers/cli-process.js';
import { type PostgresServer, startPostgres } from '../helpers/database-servers.js';
import { migrateUpTo } from '../helpers/former-databases.js';
import { people, toCsv, watchlist } from '../helpers/small-world.js';

vi.setConfig({ testTimeout: 180_000 });

const rowSchema = z.array(z.record(z.string(), z.string()));
const runSchema = z.object({ runId: z.string() });

let server: PostgresServer;
let sandbox: Sandbox;
let folder = '';

beforeAll(async () => {
  server = await startPostgres({ isDurable: true });
  sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-ordinary-'));
  await writeFile(join(folder, 'people.csv'), toCsv(people));
  await writeFile(
    join(folder, 'nightscreen.config.yaml'),
    `rosters: [{ name: people, csv: { path: people.csv } }]
controls: [{ type: person, name: Control Listed, expect: match }, { type: person, name: Zzyzx Qwfpg, expect: none }]
`,
  );
  await administrate(`
    create role app login;
    create database app owner app;
    create database half owner app;
    create database reviewed owner app;
    create database restored owner app;`);
});

afterAll(async () => {
  await sandbox.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

/** What somebody else does, who has the superuser. */
async function administrate(sql: string): Promise<void> {
  const administrator = await openDatabase({ url: server.superuserUrl }, 'tests');
  for (const statement of sql.split(';').filter((text) => text.trim() !== '')) await administrator.execute(statement);
  await administrator.close();
}

function toUrl(login: string, database: string): string {
  const url = new URL(`/${database}`, server.url);
  url.username = login;
  return url.href;
}

/** Types a command as a login; gives what it prints. */
async function type(words: string, { login = 'app', database = 'app', exits = 0 } = {}): Promise<string> {
  const { invocation, terminal } = makeInvocation(folder);
  const exitCode = await runCommandLine({
    words: words.split(' '),
    environment: {
      DATABASE_URL: toUrl(login, database),
      NIGHTSCREEN_REPORTS: join(folder, 'reports', database),
      NIGHTSCREEN_BASE_URL: sandbox.url,
      NIGHTSCREEN_API_KEY: sandbox.privateKey,
    },
    folder,
    terminal: invocation.terminal,
  });
  const printed = terminal.stdout + terminal.stderr;
  expect([words, exitCode, printed]).toEqual([words, exits, expect.anything()]);
  return printed;
}

it('a login that owns its database and has no other right migrates, onboards, screens, backs up and restores, also after a restart of the server', async () => {
  const owner = await openDatabase({ url: toUrl('app', 'app') }, 'tests');
  const rights = z.object({ rights: z.number() });
  expect(
    await owner.query(
      rights,
      `select (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)::integer
         + (select count(*) from pg_auth_members where member = pg_roles.oid)::integer as rights
       from pg_roles where rolname = session_user`,
    ),
  ).toEqual([{ rights: 0 }]);
  expect(await type('doctor')).toContain('this login may read, write and migrate');
  expect((await type('db migrate')).match(/\d{4}_\w+\.sql/g)).toHaveLength(16);
  await type('onboard --roster people');
  await type('rescreen');
  expect(await type('db migrate --check')).toContain('up to date');

  const start = await server.crash();
  await start();
  await type('rescreen');
  await type('db backup night.backup');
  await type('db restore night.backup', { database: 'restored' });
  const restart = await server.crash();
  await restart();
  await type('rescreen', { database: 'restored' });
  for (const database of ['app', 'restored']) {
    expect(await type('doctor', { database })).toContain('this login may read, write and migrate');
    expect(await type('coverage', { database })).toMatch(/6/);
  }
  await owner.close();
});

it('a database that stopped after eleven of sixteen migrations goes on from there', async () => {
  const owner = await openDatabase({ url: toUrl('app', 'half') }, 'tests');
  await migrateUpTo(owner, 11);
  await owner.close();
  expect(await type('doctor', { database: 'half' })).toContain('this login may read, write and migrate');
  expect((await type('db migrate', { database: 'half' })).match(/\d{4}_\w+\.sql/g)).toHaveLength(5);
  await type('onboard --roster people', { database: 'half' });
});

it('members of the role of reviewers review and consent to a held run with the documented rights, and nobody else decides', async () => {
  const database = 'reviewed';
  const as = (login: string, exits = 0) => ({ login, database, exits });
  await type('onboard --roster people', as('app'));
  const documented = readFileSync('docs/review.md', 'utf8');
  const [roles = ''] = /^create role nightscreen_reviewer;\n(create .*\n)+/m.exec(documented) ?? [];
  await administrate(roles);
  const owner = await openDatabase({ url: toUrl('app', database) }, 'tests');
  await owner.runScript((documented.match(/^(grant|revoke) .* nightscreen_reviewer;$/gm) ?? []).join('\n'));
  await owner.close();

  await type('review export --out review.csv', as('meyer'));
  const list = join(folder, 'review.csv');
  const rows = rowSchema.parse(parse(await readFile(list, 'utf8'), { bom: true, columns: true }));
  const filled = rows.map((row) => ({ ...row, disposition: 'false_positive', reason: 'looked at it' }));
  await writeFile(list, stringify(filled, { header: true }));
  expect(await type('review import review.csv', as('meyer'))).toContain('would be decided');
  expect(await type('review import review.csv --apply', as('app', 1))).toMatch(
    /app is not a member of the role nightscreen_reviewer/,
  );
  expect(await type('review import review.csv --apply', as('meyer'))).toMatch(/^decided +2$/m);
  const shown = await type('review show C-1', as('meyer'));
  expect(shown).toMatch(/^state +false positive/m);
  const [, alert = ''] = /^alert +(\S+)$/m.exec(shown) ?? [];
  await type(`review undo ${alert} --reason slip`, as('meyer'));
  expect(await type('review show C-1', as('meyer'))).toMatch(/^state +open\b/m);

  sandbox.setWorld({ watchlist: watchlist.slice(-1), dossiers: [] });
  const night = await type('screen --roster people --all --json', as('app', 3));
  const { runId } = runSchema.parse(JSON.parse(night.slice(0, night.indexOf('\n'))));
  await type(`runs accept ${runId} --reason confirmed`, as('meyer', 3));
  expect(await type(`runs accept ${runId} --reason confirmed`, as('app'))).toContain('is accepted by app');
  // Nobody is released by it: the alert that was undone waits.
  expect(await type('review show C-1', as('meyer'))).toMatch(/^state +open\b/m);
  for (const words of ['runs', `runs show ${runId}`, 'coverage', 'status']) {
    await type(words, as('meyer'));
  }
});
