import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/load-config.js';
import { DatabaseMissingError } from '../errors.js';
import type { Database } from '../store/database.js';
import type { FolderPatience } from '../store/folder-lock.js';
import type { DatabaseLocation } from '../store/open-database.js';

/** Where the configuration keeps the data. */
export function locateDatabase({ secret, settings }: Pick<Config, 'secret' | 'settings'>): DatabaseLocation {
  const url = secret('DATABASE_URL');
  return url === undefined ? { folder: settings.database.folder } : { url };
}

/** Whether an embedded database would be made by opening it. */
export const isMissing = ({ folder }: DatabaseLocation): boolean =>
  folder !== undefined && !existsSync(join(folder, 'pgdata'));

/** Throws DatabaseMissingError for what only reads, and so must not make an embedded database that says "nothing yet". */
export function requireDatabase({ folder }: DatabaseLocation): void {
  if (folder !== undefined && isMissing({ folder })) throw new DatabaseMissingError(resolve(folder));
}

/** Opens the database without bringing its schema up to date, works with it, and closes it whatever happens. */
export async function withDatabase<Result>(
  location: DatabaseLocation,
  command: string,
  patience: FolderPatience,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { openDatabase } = await import('../store/open-database.js');
  const database = await openDatabase(location, `nightscreen ${command}`, patience);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
