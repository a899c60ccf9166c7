import { CommanderError } from 'commander';
import {
  ApiError,
  AuthenticationError,
  BackupError,
  ConfigError,
  type ConfigProblem,
  ConnectionError,
  DatabaseMissingError,
  FolderOwnerError,
  NightscreenError,
  NotFoundError,
  PaymentRequiredError,
  PermissionError,
  ReportError,
  ResponseError,
  RosterError,
  RunLockedError,
  StoreError,
} from '../errors.js';
import { DatabaseError } from '../store/database/database.js';

/** An error as it is reported: stable code, what happened, where, and what to do next. */
export interface ErrorDescription {
  code: string;
  message: string;
  problems: readonly ConfigProblem[];
  where: string | null;
  next: string | null;
}

function describeNext(error: unknown, isDoctor: boolean): string | null {
  if (error instanceof ConfigError && error.problems.every(({ where }) => where === 'run'))
    return '`nightscreen runs list` shows the runs and their states';
  if (error instanceof ConfigError)
    return 'correct what is named above; docs/configuration.md describes each setting, and `nightscreen config show` shows those in force once all can be read';
  if (error instanceof RosterError) return 'correct what is named above and start again; nothing was spent';
  if (error instanceof AuthenticationError)
    return 'check NIGHTSCREEN_API_KEY: it is malformed, revoked, or of another service';
  if (error instanceof PaymentRequiredError)
    return 'top up the account, then `nightscreen runs resume ID` goes on where it stopped';
  if (error instanceof PermissionError) return 'ask the service for the right that this operation needs';
  if (error instanceof NotFoundError)
    return 'check that service.baseUrl (NIGHTSCREEN_BASE_URL) ends with the version prefix, as in https://service.example/v1';
  if (error instanceof ConnectionError)
    return `check service.baseUrl (NIGHTSCREEN_BASE_URL) and the network${isDoctor ? '' : '; `nightscreen doctor` tries it'}`;
  if (error instanceof ResponseError)
    return 'the service breaks its interface here; inform its operators, with the time of the call';
  if (error instanceof ReportError && error.code === 'report_not_written')
    return 'make room or give the right, or name another folder with --out; `nightscreen report --run ID` then writes it, the run itself is stored';
  if (error instanceof StoreError) return describeStoreNext(error, isDoctor);
  if (error instanceof CommanderError)
    return '`nightscreen --help` lists the commands, `nightscreen COMMAND --help` their options';
  if (error instanceof NightscreenError) return null;
  return 'this is a fault of Nightscreen: run it again with --log-level debug and report what it prints';
}

function describeWhere(error: unknown): string | null {
  if (error instanceof ApiError) {
    const request = error.requestId ? `, request ${error.requestId}` : '';
    return `${error.method} ${error.path} (status ${error.status}${request})`;
  }
  if (error instanceof ConnectionError || error instanceof ResponseError) return `${error.method} ${error.path}`;
  return null;
}

function toCode(error: unknown): string {
  if (error instanceof NightscreenError) return error.code;
  return error instanceof CommanderError ? 'usage' : 'unexpected';
}

/** What the operating system said, where the message leaves it out: a full disk or a missing right is what has to be mended. */
function describeSystemCause(error: unknown, said: string): string {
  for (let cause = toCause(error); cause !== undefined; cause = toCause(cause)) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && /^E[A-Z]{3,}$/.test(code)) return said.includes(code) ? '' : ` (${code})`;
  }
  return '';
}

const toCause = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Describes any error, without a stack trace; the doctor is not sent to the doctor. */
export function describeError(error: unknown, { isDoctor } = { isDoctor: false }): ErrorDescription {
  const problems = error instanceof ConfigError ? error.problems : [];
  const said = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const several = problems.length === 1 ? said : `${problems.length} settings are wrong`;
  return {
    code: toCode(error),
    message: error instanceof ConfigError ? several : `${said}${describeSystemCause(error, said)}`,
    problems,
    where: describeWhere(error),
    next: describeNext(error, isDoctor),
  };
}

/** The error as lines for people. */
export function formatError(description: ErrorDescription): string {
  const listed = description.problems.length > 1 ? description.problems : [];
  const problems = listed.map(({ where, path, message }) => `  ${where}: ${path === '' ? '' : `${path}: `}${message}`);
  const lines = [
    `nightscreen: ${description.message}${description.code === 'usage' ? '' : ` [${description.code}]`}`,
    ...problems,
    ...(description.where === null ? [] : [`  where: ${description.where}`]),
    ...(description.next === null ? [] : [`  next:  ${description.next}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The error as the one document that `--json` prints; what is not known is left out. */
export function toErrorDocument({ code, message, problems, where, next }: ErrorDescription): Record<string, unknown> {
  return {
    schema: 'nightscreen/error/1',
    code,
    message,
    ...(problems.length > 0 ? { problems } : {}),
    ...(where === null ? {} : { where }),
    ...(next === null ? {} : { next }),
  };
}

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
const tooManyConnectionsState = '53300';
const adviceOnRoom =
  'the database has no connection left: raise max_connections (or the limit of its role), end idle sessions, or run fewer processes of Nightscreen; then start the same command again';
const adviceOnReading =
  'the database takes no writes: DATABASE_URL leads to a standby, or default_transaction_read_only is on; name the primary, or switch that off, then start the same command again';

/** What to do about what our own database did; null where its message says all. The doctor gets what it can do without itself. */
function describeStoreNext(error: StoreError, isDoctor: boolean): string | null {
  if (error instanceof FolderOwnerError) return error.remedy;
  if (error instanceof RunLockedError) return `wait until it has finished, or stop it: ${error.holder}`;
  if (error instanceof DatabaseMissingError)
    return 'start it as the nightly runs are started: in their folder or with --config, as their user, and with DATABASE_URL where they use Postgres; only `nightscreen onboard`, `rescreen` and the like make a database';
  if (error.code === 'schema_in_use')
    return 'this version needs a newer schema and nothing was changed: wait until that process has finished, or stop it (its run goes on later), and then start the same command again';
  if (error instanceof BackupError) return adviceOnBackups[error.code] ?? null;
  if (findState(error) === tooManyConnectionsState) return adviceOnRoom;
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
