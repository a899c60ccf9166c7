import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '../../src/store/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/open-database.js';
import { findFreePort } from '../helpers/find-free-port.js';
import { startPostgres } from '../helpers/start-postgres.js';
import type { Locate } from './site.js';

/** Where a campaign gets its databases: each call of a `Locate` makes a new migrated, empty one. */
export interface Places {
  embedded: Locate;
  postgres: Locate;
  /** The same server through pgbouncer in transaction mode; null where that is not installed. */
  pooled: Locate | null;
  close(): Promise<void>;
}

/** Starts a Postgres server and, where it is installed, pgbouncer before it. */
export async function openPlaces(): Promise<Places> {
  const server = await startPostgres();
  const pooler = await startPgbouncer(new URL(server.url).port);
  const folders: string[] = [];
  const makeDatabase = async (): Promise<string> => {
    const name = `campaign_${randomBytes(6).toString('hex')}`;
    const admin = await openDatabase({ url: server.url }, 'campaign');
    await admin.execute(`create database ${name}`).finally(() => admin.close());
    await migrateAt({ url: toDatabase(server.url, name) });
    return name;
  };
  return {
    embedded: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'nightscreen-campaign-'));
      folders.push(folder);
      await migrateAt({ folder });
      return { folder };
    },
    postgres: async () => ({ url: toDatabase(server.url, await makeDatabase()) }),
    pooled: pooler && (async () => ({ url: toDatabase(pooler.url, await makeDatabase()) })),
    close: async () => {
      await pooler?.stop();
      await server.stop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

const toDatabase = (url: string, name: string): string => url.replace(/postgres$/, name);

async function migrateAt(location: DatabaseLocation): Promise<void> {
  const database = await openDatabase(location, 'campaign');
  await migrate(database).finally(() => database.close());
}

const isInstalled = (): boolean => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

async function startPgbouncer(serverPort: string): Promise<{ url: string; stop(): Promise<void> } | null> {
  if (!isInstalled()) return null;
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-pgbouncer-'));
  const path = join(folder, 'pgbouncer.ini');
  // Few server connections, so that sessions are really shared.
  await writeFile(
    path,
    `[databases]
* = host=127.0.0.1 port=${serverPort} user=nightscreen
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
`,
  );
  await chmod(folder, 0o755);
  await chmod(path, 0o644);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child: ChildProcess = spawn('pgbouncer', ['-q', ...user, path], { stdio: 'ignore' });
  const url = `postgres://nightscreen@127.0.0.1:${port}/postgres`;
  for (let tries = 0; !(await canReach(url)); tries += 1) {
    if (tries > 100 || child.exitCode !== null) throw new Error('pgbouncer did not come up');
    await delay(50);
  }
  return {
    url,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const canReach = (url: string): Promise<boolean> =>
  openDatabase({ url }, 'campaign').then(
    async (database) => {
      await database.close();
      return true;
    },
    () => false,
  );
