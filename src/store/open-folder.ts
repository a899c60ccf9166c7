import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files.js';
import type { Database } from './database.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { syncPath, syncTree } from './embedded-files.js';
import { type FolderPatience, lockFolder } from './folder-lock.js';
import { requireOwnFolder } from './folder-ownership.js';

/**
 * The embedded database of a folder, which is made when missing (0700); throws RunLockedError as `lockFolder`, FolderOwnerError as
 * `requireOwnFolder` and ConfigError as `makeFolder` does. `isDurable`: whether a commit survives power loss; without it, as the folder was opened last.
 */
export async function openFolder(
  folder: string,
  owner: string,
  patience: FolderPatience = {},
  isDurable?: boolean,
): Promise<Database> {
  await requireOwnFolder(folder, owner);
  await makeFolder(folder, 'set database.folder (NIGHTSCREEN_DATA) to another folder');
  const lock = await lockFolder(folder, owner, patience);
  try {
    const dataDirectory = join(folder, 'pgdata');
    const incomplete = join(folder, 'pgdata.incomplete');
    const durable = join(folder, 'pgdata.durable');
    await removeRemains(dataDirectory, incomplete);
    const wasDurable = await exists(durable);
    const becomesDurable = isDurable ?? wasDurable;
    if (!becomesDurable) await rm(durable, { force: true });
    const settings = { isDurable: becomesDurable, isHurried: () => patience.signal?.aborted === true };
    // What was written without fsync, by a former version or by the making of the database, is brought to the disk once.
    if (becomesDurable && !wasDurable && (await exists(dataDirectory))) await syncTree(dataDirectory);
    const isNew = await exists(incomplete);
    const database = await EmbeddedDatabase.open(dataDirectory, lock, settings);
    if (becomesDurable && isNew) await syncTree(dataDirectory);
    await rm(incomplete, { force: true });
    if (becomesDurable && !wasDurable) {
      await writeFile(durable, '', { mode: 0o600 });
      syncPath(folder);
    }
    return database;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A first start that was killed leaves half a data directory, in which nothing was ever stored; a killed query leaves temporary files. */
async function removeRemains(dataDirectory: string, marker: string): Promise<void> {
  if (await exists(marker)) await rm(dataDirectory, { recursive: true, force: true });
  if (!(await exists(dataDirectory))) await writeFile(marker, '', { mode: 0o600 });
  await rm(join(dataDirectory, 'base', 'pgsql_tmp'), { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
