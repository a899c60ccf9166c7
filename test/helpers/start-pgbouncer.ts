import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/store/database/open-database.js';
import { findFreePort } from './find-free-port.js';

const isInstalled = (): boolean => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Starts pgbouncer in transaction mode before a server on this port of the loopback; null where it is not installed. */
export async function startPgbouncer(serverPort: string): Promise<{ url: string; stop(): Promise<void> } | null> {
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
