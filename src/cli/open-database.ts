import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { toKeyMode } from '../client/credentials.js';
import { keyVariable } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { DatabaseMissingError } from '../errors.js';
import type { Database, Queryable } from '../store/database/database.js';
import type { FolderWaitPolicy } from '../store/database/folder-lock.js';
import type { DatabaseLocation } from '../store/database/open-database.js';
import type { RunMode } from '../vocabulary.js';
import type { Invocation } from './invocation.js';

/** The mode of the settings, else of the key. */
export function findMode({ secret, settings }: Pick<Config, 'secret' | 'settings'>): RunMode | 'unknown' {
  const key = secret(keyVariable);
  return settings.service.mode ?? (key === undefined ? 'unknown' : toKeyMode(key));
}

/** The database of the configuration: a URL of Postgres, or the folder of the embedded one. */
export function locateDatabase(config: Pick<Config, 'secret' | 'settings'>): DatabaseLocation {
  const { secret, settings } = config;
  const url = secret('DATABASE_URL');
  if (url !== undefined) return { url };
  const { folder } = settings.database;
  // Without a key the folder keeps the durability of its runs; a test key does not lower that of a live key.
  return findMode(config) === 'live' ? { folder, isDurable: true } : { folder };
}

/** The folder where events wait until the embedded database is open. */
export const toEventsFolder = ({ settings: { database, organisation } }: Pick<Config, 'settings'>): string =>
  join(database.folder, organisation === 'default' ? 'events' : `events-${organisation}`);

/** Whether opening would create an embedded database; one whose creation was interrupted counts as missing. */
export const isMissing = ({ folder }: DatabaseLocation): boolean =>
  folder !== undefined && (existsSync(join(folder, 'pgdata.incomplete')) || isAbsent(folder));

function isAbsent(folder: string): boolean {
  try {
    return statSync(join(folder, 'pgdata'), { throwIfNoEntry: false }) === undefined;
  } catch {
    // A folder that this user may not read may hold one; opening it names the owner.
    return !existsSync(folder);
  }
}

/** The embedded databases and the reports of earlier runs that a new database does not know; `folder`: the working folder. */
export function listEarlierData(config: Pick<Config, 'secret' | 'settings' | 'file'>, folder: string): string[] {
  const { database, reports } = config.settings;
  const besides = config.file === null ? [folder] : [folder, dirname(config.file)];
  const folders = [...besides.map((each) => join(each, '.nightscreen')), resolve(folder, database.folder)];
  const opened = locateDatabase(config).folder;
  const own = opened === undefined ? null : resolve(folder, opened);
  const databases = [...new Set(folders)].filter((each) => each !== own && !isMissing({ folder: each }));
  const reportsAt = resolve(folder, reports.dir);
  return [
    ...databases.map((each) => `a database at ${each}`),
    ...(hasReports(reportsAt) ? [`reports of earlier runs in ${reportsAt}`] : []),
  ];
}

function hasReports(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => existsSync(join(folder, name, 'manifest.json')));
  } catch {
    return false;
  }
}

/** Throws DatabaseMissingError when there is no embedded database: a command that only reads must not create one. */
export function requireDatabase({ folder }: DatabaseLocation): void {
  if (folder === undefined || !isMissing({ folder })) return;
  throw new DatabaseMissingError(`there is no database at ${resolve(folder)}, or this user may not read it`);
}

/** Throws FolderOwnerError when another user owns the embedded database; opens nothing. */
export async function requireOwnDatabase(config: Pick<Config, 'secret' | 'settings'>, command: string): Promise<void> {
  const { folder } = locateDatabase(config);
  if (folder === undefined) return;
  const { requireOwnFolder } = await import('../store/database/folder-ownership.js');
  await requireOwnFolder(folder, `nightscreen ${command}`);
}

/** Throws DatabaseMissingError when an open database has no schema of ours: a reading command must not create it. */
export async function requireSchema(database: Queryable, { url, folder = '' }: DatabaseLocation): Promise<void> {
  const { hasSchema } = await import('../store/database/migrate.js');
  if (await hasSchema(database)) return;
  throw new DatabaseMissingError(
    url === undefined
      ? `the creation of the database at ${resolve(folder)} was never finished`
      : `the database ${await nameServer(url)} has no tables of Nightscreen, or this login may not read them`,
  );
}

/** A server and its database, without user and password. */
export async function nameServer(url: string): Promise<string> {
  const { describeServer, postgresConfig } = await import('../store/database/postgres.js');
  return describeServer(postgresConfig(url, ''));
}

/** Opens the database without migrating it, does the work, and closes the database in any case. */
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

/** A person waits for the command. */
const shortMs = 10_000;
/** Longer than a mail server without an answer can delay the mail job: a night must not be refused because of that. */
const longMs = 120_000;

/**
 * How long a locked folder of the embedded database is waited for: two minutes by work that `isLasting`, ten seconds
 * by other work. Lasting work may keep the folder for hours, so others do not wait for it.
 */
export function toFolderWaitPolicy(
  { notify, signal }: Pick<Invocation, 'notify' | 'signal'>,
  isLasting: boolean,
  sayProgress?: FolderWaitPolicy['sayProgress'],
): FolderWaitPolicy {
  const maxWaitMs = isLasting ? longMs : shortMs;
  const onWait = (holder: string): void =>
    notify({
      level: 'info',
      code: 'database_taken',
      message: `waiting for ${holder}, which uses the database; at most ${maxWaitMs / 1_000} s`,
    });
  return { isBrief: !isLasting, maxWaitMs, onWait, signal, sayProgress };
}
