import { statfs } from 'node:fs/promises';
import { ConfigError, FolderOwnerError, RunLockedError, StoreError } from '../../errors.js';
import type { ReconnectOptions } from './connections.js';
import { type Database, DatabaseError, fullDiskState, toDatabaseError } from './database.js';
import type { FolderWaitPolicy } from './folder-lock.js';

/** The location of the data: a Postgres URL, or the folder of the embedded database; the URL wins. */
export interface DatabaseLocation {
  url?: string;
  /** The schema of the database by the URL; without it, as the server has it. */
  schema?: string | undefined;
  folder?: string;
  /** Whether a commit to the folder survives a power loss; without it, as when the folder was last opened. */
  isDurable?: boolean | undefined;
  /** The time limit of a query by the URL; without it there is none. */
  queryTimeoutMs?: number | undefined;
  /** Reconnection after a lost connection; without it a loss is an error at once. */
  reconnect?: ReconnectOptions | undefined;
}

/**
 * Opens the database. `owner` names this process (its command) for operators. Throws RunLockedError when another process owns the folder (after
 * the wait of `waitPolicy`), FolderOwnerError when the folder belongs to another user, ConfigError when it cannot be written, StoreError
 * (`database_unreachable`, without the password) when the database cannot be opened, or is behind a pooler in transaction mode.
 */
export async function openDatabase(
  location: DatabaseLocation,
  owner: string,
  waitPolicy: FolderWaitPolicy = {},
): Promise<Database> {
  if (location.url !== undefined) return openPostgres(location.url, owner, location);
  if (location.folder !== undefined) return openEmbedded(location.folder, owner, waitPolicy, location.isDurable);
  const message = 'neither a database URL nor a folder for the embedded database is configured';
  throw new StoreError('database_unreachable', message);
}

// Both drivers are large, so each is loaded only when it is used.
async function openPostgres(
  url: string,
  owner: string,
  { schema, queryTimeoutMs, reconnect }: DatabaseLocation,
): Promise<Database> {
  const { PostgresDatabase, describeServer, postgresConfig } = await import('./postgres.js');
  const config = postgresConfig(url, owner, queryTimeoutMs);
  const server = describeServer(config);
  const database = new PostgresDatabase(config, reconnect, { statementTimeoutMs: queryTimeoutMs, schema });
  try {
    await database.probe();
    return database;
  } catch (error) {
    await database.close();
    if (error instanceof StoreError && error.code === 'pooler_in_transaction_mode') throw error;
    throw unreachable(server, error);
  }
}

async function openEmbedded(
  folder: string,
  owner: string,
  waitPolicy: FolderWaitPolicy,
  isDurable: boolean | undefined,
): Promise<Database> {
  const { openFolder } = await import('./embedded.js');
  try {
    return await openFolder(folder, owner, waitPolicy, isDurable);
  } catch (error) {
    if ([RunLockedError, FolderOwnerError, ConfigError].some((type) => error instanceof type)) throw error;
    if (error === waitPolicy.signal?.reason) throw error;
    throw unreachable(folder, await describeRoom(folder, error));
  }
}

/** The engine does not say why it could not start; it needs room for one file of its log. */
const leastRoomMb = 16;

/** The error of a full disk where the engine gave another one for want of room. */
async function describeRoom(folder: string, error: unknown): Promise<unknown> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: Number.POSITIVE_INFINITY, bsize: 1 }));
  if (bavail * bsize >= leastRoomMb * 1_048_576) return error;
  const message = `${toDatabaseError(error).message}; less than ${leastRoomMb} MB are free on its disk`;
  return new DatabaseError(message, { sqlState: fullDiskState, cause: error });
}

function unreachable(place: string, error: unknown): StoreError {
  const message = `cannot open the database at ${place}: ${toDatabaseError(error).message}`;
  return new StoreError('database_unreachable', message, { cause: error });
}
