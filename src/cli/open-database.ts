import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toKeyMode } from '../client/credentials.js';
import type { Config } from '../config/load-config.js';
import { DatabaseMissingError } from '../errors.js';
import type { Database, Queryable } from '../store/database/database.js';
import type { FolderWaitPolicy } from '../store/database/folder-lock.js';
import type { DatabaseLocation } from '../store/database/open-database.js';
import type { Invocation } from './invocation.js';

/** Where the configuration keeps the data. */
export function locateDatabase({ secret, settings }: Pick<Config, 'secret' | 'settings'>): DatabaseLocation {
  const url = secret('DATABASE_URL');
  if (url !== undefined) return { url };
  const { folder, durable } = settings.database;
  if (durable !== 'auto') return { folder, isDurable: durable === 'always' };
  const key = secret('NIGHTSCREEN_API_KEY');
  const mode = settings.service.mode ?? (key === undefined ? 'unknown' : toKeyMode(key));
  // A command without a key, a reviewer's say, opens the folder as the runs did; a test key does not undo what a live one needs.
  return mode === 'live' ? { folder, isDurable: true } : { folder };
}

/** Where events wait until the embedded database is open. */
export const toEventsFolder = ({ settings }: Pick<Config, 'settings'>): string =>
  join(settings.database.folder, 'events');

/** Whether an embedded database would be made by opening it; one whose making was broken off is none. */
export const isMissing = ({ folder }: DatabaseLocation): boolean =>
  folder !== undefined && (existsSync(join(folder, 'pgdata.incomplete')) || isAbsent(folder));

function isAbsent(folder: string): boolean {
  try {
    return statSync(join(folder, 'pgdata'), { throwIfNoEntry: false }) === undefined;
  } catch {
    // A folder that this user may not look into may hold one: whose it is, opening it reports.
    return !existsSync(folder);
  }
}

/** Throws DatabaseMissingError for what only reads, and so must not make an embedded database that says "nothing yet". */
export function requireDatabase({ folder }: DatabaseLocation): void {
  if (folder === undefined || !isMissing({ folder })) return;
  throw new DatabaseMissingError(`there is no database at ${resolve(folder)}, or none that this user may look at`);
}

/** Throws FolderOwnerError where the embedded database is another user's, which does not pass by itself; opens nothing. */
export async function requireOwnDatabase(config: Pick<Config, 'secret' | 'settings'>, command: string): Promise<void> {
  const { folder } = locateDatabase(config);
  if (folder === undefined) return;
  const { requireOwnFolder } = await import('../store/database/folder-ownership.js');
  await requireOwnFolder(folder, `nightscreen ${command}`);
}

/** Throws DatabaseMissingError where an open database holds no schema of ours, which what only reads must not lay. */
export async function requireSchema(database: Queryable, { url, folder = '' }: DatabaseLocation): Promise<void> {
  const { hasSchema } = await import('../store/database/migrate.js');
  if (await hasSchema(database)) return;
  throw new DatabaseMissingError(
    url === undefined
      ? `the database at ${resolve(folder)} was begun and never finished`
      : `the database ${await nameServer(url)} holds nothing of Nightscreen, or nothing that this login may look at`,
  );
}

/** A server and its database in words, without user and password. */
export async function nameServer(url: string): Promise<string> {
  const { describeServer, postgresConfig } = await import('../store/database/postgres.js');
  return describeServer(postgresConfig(url, ''));
}

/** Opens the database without bringing its schema up to date, works with it, and closes it whatever happens. */
export async function withDatabase<Result>(
  location: DatabaseLocation,
  command: string,
  waitPolicy: FolderWaitPolicy,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { openDatabase } = await import('../store/database/open-database.js');
  const database = await openDatabase(location, `nightscreen ${command}`, waitPolicy);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A person waits. */
const shortMs = 10_000;
/** Longer than mail can be held up by a server that does not answer: a night must not be refused for that. */
const longMs = 120_000;

/**
 * How the embedded database's folder is taken: work that `isLasting` may hold it for hours, so that nobody waits for it, and is itself
 * worth a wait of two minutes; anything else gives it back within seconds and waits ten.
 */
export function toFolderWaitPolicy(
  { notify, signal }: Pick<Invocation, 'notify' | 'signal'>,
  isLasting: boolean,
): FolderWaitPolicy {
  const maxWaitMs = isLasting ? longMs : shortMs;
  const onWait = (holder: string, longestMs = maxWaitMs): void =>
    notify({
      level: 'info',
      code: 'database_taken',
      message: `waits for ${holder}, which has the database; at most ${longestMs / 1_000} s`,
    });
  return { isBrief: !isLasting, maxWaitMs, onWait, signal };
}
