import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { makeInvocation } from '../helpers/cli-process.js';
import { type PostgresServer, startPostgres } from '../helpers/database-servers.js';
import { people, toCsv, watchlist } from '../helpers/small-world.js';

vi.setConfig({ testTimeout: 180_000 });

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
  expect(await type('doctor')).toContain('this login may read');
  expect((await type('db migrate')).match(/\d{4}_\w+\.sql/g)).toHaveLength(18);
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
  // It says what the restore has lost.
  expect(await type('rescreen', { database: 'restored', exits: 3 })).toContain('the database was restored on');
  for (const database of ['app', 'restored']) {
    expect(await type('doctor', { database })).toContain('this login may read');
    expect(await type('coverage', { database })).toMatch(/6/);
  }
  await owner.close();
});
