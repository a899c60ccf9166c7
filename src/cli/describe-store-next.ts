import { BackupError, DatabaseMissingError, FolderOwnerError, RunLockedError, type StoreError } from '../errors.js';
import { DatabaseError } from '../store/database.js';

const adviceOnBackups: Readonly<Record<string, string>> = {
  backup_missing: 'name the file that `nightscreen backup` wrote; a relative path starts at the present folder',
  backup_unreadable: 'name the file itself, or give this user the right to read it; the backup may well be whole',
  backup_broken:
    'copy it anew from where it was kept (`sha256sum` gives what `nightscreen backup` printed where it is whole), or take an older one',
  database_not_empty:
    'where the database was made for this, something of Nightscreen was started with it meanwhile (a scheduler, a cron line): stop that, make the database anew, and restore',
};

/** Classes and states of SQL that say that the server is not there, goes down, has no room or lets nobody in. */
const awayStates = /^(?:08|53|57P|55000)/;
const forbiddenState = '42501';
const crowdedState = '53300';
const adviceOnRoom =
  'the database has no connection left: raise max_connections (or the limit of its role), end idle sessions, or run fewer processes of Nightscreen; then start the same command again';
const adviceOnReading =
  'the database takes no writes: DATABASE_URL leads to a standby, or default_transaction_read_only is on; name the primary, or switch that off, then start the same command again';

/** What to do about what our own database did; null where its message says all. The doctor is told what it can do without itself. */
export function describeStoreNext(error: StoreError, isDoctor: boolean): string | null {
  if (error instanceof FolderOwnerError) return error.remedy;
  if (error instanceof RunLockedError) return `wait until it has finished, or stop it: ${error.holder}`;
  if (error instanceof DatabaseMissingError)
    return 'start it as the nightly runs are started: in their folder or with --config, as their user, and with DATABASE_URL where they use Postgres; only `nightscreen onboard`, `rescreen` and the like make a database';
  if (error.code === 'schema_in_use')
    return 'this version needs a newer schema and nothing was changed: wait until that process has finished, or stop it (its run goes on later), and then start the same command again';
  if (error instanceof BackupError) return adviceOnBackups[error.code] ?? null;
  if (findState(error) === crowdedState) return adviceOnRoom;
  if (error instanceof DatabaseError && error.code === 'database_error') return describeDatabaseNext(error, isDoctor);
  const ask = (words: string): string => (isDoctor ? '' : words);
  if (error.code === 'database_unreachable')
    return `check DATABASE_URL or database.folder, and that the server runs${ask('; `nightscreen doctor` tries it')}`;
  if (error.code === 'import_broken_off')
    return `once the database is back${ask(' (`nightscreen doctor` tries it)')}, start the same command again: it reads the roster anew`;
  return null;
}

const findState = (error: unknown): string | undefined => {
  if (error instanceof DatabaseError) return error.sqlState;
  return error instanceof Error && error.cause !== undefined ? findState(error.cause) : undefined;
};

function describeDatabaseNext({ sqlState }: DatabaseError, isDoctor: boolean): string | null {
  if (sqlState === '25006') return adviceOnReading;
  // Without a state nobody answered any more: the connection broke, or the embedded database's files did.
  if (sqlState === undefined || awayStates.test(sqlState))
    return `this is our own database (DATABASE_URL or database.folder): see that it and its disk are well${isDoctor ? '' : ', `nightscreen doctor` tries them; then the same command again, for what was not finished is not stored'}`;
  if (sqlState === forbiddenState)
    return isDoctor
      ? 'give the login of DATABASE_URL the right to it, or name the login that owns the database'
      : 'the login of DATABASE_URL lacks a right there; `nightscreen doctor` says which, and nothing of this was stored';
  return null;
}
