import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { TestProject } from 'vitest/node';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { compileCli } from './cli-process.js';
import { createDatabaseSql, type PostgresServer, startPostgres, templateName } from './database-servers.js';
import { listenOnLoopback } from './loopback.js';

declare module 'vitest' {
  interface ProvidedContext {
    databaseBroker: string;
  }
}

/** How many databases that nobody needs any more, of 12 MB each, may lie about. */
const usedAtMost = 40;

/**
 * Answers test files over loopback HTTP: `/postgres/TEMPLATE` gives the URL of a new database like that one of our server for the ordinary login
 * that owns it, `/used/NAME` says that it is not needed any more; `/embedded` gives a folder with a migrated database to copy, `/empty` one without any table of ours. Server
 * and folders are made once per Vitest run, when first asked for, and removed at its end; so is the compiled command line.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = await takeTemporaryFolder();
  // As in the tests' own processes, see vitest.config.ts.
  setFlagsFromString('--liftoff-only');
  let postgres: Promise<{ server: PostgresServer; admin: Database }> | undefined;
  let embedded: Promise<string> | undefined;
  let empty: Promise<string> | undefined;
  const cli = await compileCli();
  const used: string[] = [];
  // Each dropping writes all that the server has in memory: many at a time cost little more than one.
  const dropSome = async (admin: Database, name: string): Promise<string> => {
    used.push(name);
    if (used.length < usedAtMost) return '';
    for (const each of used.splice(0)) await admin.execute(`drop database ${each} with (force)`);
    return '';
  };
  // Tests come back after minutes, over a connection that must still be there.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const answer = async (): Promise<string> => {
      const [, what, name] = /^\/(used|postgres)\/(\w+)$/.exec(request.url ?? '') ?? [];
      if (name !== undefined) {
        postgres ??= startMigratedPostgres();
        const { server, admin } = await postgres;
        return what === 'used' ? dropSome(admin, name) : createLike(server, admin, name);
      }
      empty ??= makeFolder(() => Promise.resolve());
      if (request.url === '/empty') return empty;
      // The engine takes 5 s of processor time to make a folder, and a copy next to none.
      embedded ??= empty.then((made) => makeFolder(migrate, made));
      return embedded;
    };
    answer().then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(describe(error)),
    );
  });
  project.provide('databaseBroker', `http://127.0.0.1:${await listenOnLoopback(server)}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    const { server: started, admin } = (await postgres?.catch(() => undefined)) ?? {};
    await admin?.close();
    await started?.stop();
    await cli.remove();
    await rm(temporary, { recursive: true, force: true });
  };
}

/** The folder for temporary files of this process and all that it starts: whatever tests leave in it is removed with it. */
async function takeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join((await hasRoomInMemory()) ? memoryFolder : tmpdir(), 'nightscreen-tests-'));
  // Like the system's own: the database server runs as a user of its own.
  await chmod(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return folder;
}

const memoryFolder = '/dev/shm';
const memoryLeast = 4 * 1_073_741_824;

/** Whether files may lie in memory: on a disk, a database costs ten times as much to create from its template (400 ms of processor time). */
async function hasRoomInMemory(): Promise<boolean> {
  if (process.env['TMPDIR'] !== undefined || process.availableMemory() < memoryLeast) return false;
  try {
    const { bavail, bsize } = await statfs(memoryFolder);
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n');
    const mount = mounts.find((line) => line.split(' ')[1] === memoryFolder);
    // Containers often forbid programs there, and the database server is one.
    return bavail * bsize >= memoryLeast && mount !== undefined && !/\bnoexec\b/.test(mount);
  } catch {
    return false;
  }
}

async function startMigratedPostgres(): Promise<{ server: PostgresServer; admin: Database }> {
  const server = await startPostgres();
  try {
    const admin = await openDatabase({ url: server.superuserUrl }, 'tests');
    await admin.execute(createDatabaseSql(templateName));
    await prepareAndClose({ url: toUrl(server, templateName) }, migrate);
    return { server, admin };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Over a connection that stays: each new one costs the server 4 ms of processor time. */
async function createLike(server: PostgresServer, admin: Database, template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await admin.execute(createDatabaseSql(name, `template ${template} strategy file_copy`));
  return toUrl(server, name);
}

const toUrl = ({ url }: PostgresServer, name: string): string => new URL(`/${name}`, url).href;

async function makeFolder(prepare: (database: Database) => Promise<unknown>, from?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-template-'));
  try {
    if (from !== undefined) await cp(from, folder, { recursive: true });
    await prepareAndClose({ folder }, prepare);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function prepareAndClose(
  location: DatabaseLocation,
  prepare: (database: Database) => Promise<unknown>,
): Promise<void> {
  const database = await openDatabase(location, 'tests');
  try {
    await prepare(database);
  } finally {
    await database.close();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}
