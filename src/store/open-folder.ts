import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from './database.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { type FolderPatience, lockFolder } from './folder-lock.js';
import { requireOwnFolder } from './folder-ownership.js';

/** The embedded database of a folder, which is made when missing (0700); throws RunLockedError as `lockFolder` and FolderOwnerError as `requireOwnFolder` does. */
export async function openFolder(folder: string, owner: string, patience: FolderPatience = {}): Promise<Database> {
  await requireOwnFolder(folder, owner);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(folder, owner, patience);
  try {
    const dataDirectory = join(folder, 'pgdata');
    const marker = join(folder, 'pgdata.incomplete');
    await removeRemains(dataDirectory, marker);
    const database = await EmbeddedDatabase.open(dataDirectory, lock);
    await rm(marker, { force: true });
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
