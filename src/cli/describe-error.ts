import { CommanderError } from 'commander';
import { keyVariable } from '../config/environment.js';
import {
  ApiError,
  AuthenticationError,
  BackupError,
  CallError,
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
  RosterHeldError,
  RunLockedError,
  readErrorCode,
  StoreError,
} from '../errors.js';
import { DatabaseError, fullDiskState } from '../store/database/database.js';
import { showTimes, wrap } from './text.js';

/** An error as it is reported: stable code, what happened, where, and what to do next. */
interface ErrorDescription {
  code: string;
  message: string;
  problems: readonly ConfigProblem[];
  where: string | null;
  next: string | null;
}

const usageCode = 'usage_error';

function describeNext(error: unknown, isDoctor: boolean): string | null {
  if (error instanceof ConfigError && error.problems.every(({ where }) => where === 'run'))
    return '`nightscreen runs` shows the runs and their states';
  if (error instanceof CommanderError || (error instanceof ConfigError && error.code === usageCode))
    return '`nightscreen help` lists the commands, `nightscreen COMMAND --help` their options';
  if (error instanceof ConfigError && error.problems.some(({ path }) => path === 'service.baseUrl'))
    return 'where no configuration file exists, `nightscreen init` writes one; docs/configuration.md describes each setting';
  if (error instanceof ConfigError)
    return 'correct the settings above, or remove their lines; docs/configuration.md describes each one';
  // Its message says what to do.
  if (error instanceof RosterHeldError) return null;
  if (error instanceof RosterError) return 'correct the file or the query and start again; nothing was spent';
  if (error instanceof AuthenticationError)
    return `check ${keyVariable} (or the apiKeyEnv of the organisation): it is malformed, revoked, or belongs to another service`;
  if (error instanceof PaymentRequiredError)
    return 'top up the account, then `nightscreen runs resume ID` continues the run';
  if (error instanceof PermissionError) return 'request the right for this operation from the service';
  if (error instanceof NotFoundError)
    return 'check that service.baseUrl (NIGHTSCREEN_BASE_URL) ends with the version prefix, as in https://service.example/v1';
  if (error instanceof ConnectionError)
    return `check service.baseUrl (NIGHTSCREEN_BASE_URL) and the network${isDoctor ? '' : '; `nightscreen doctor` tries it'}`;
  if (error instanceof ResponseError)
    return 'the answer breaks the contract of the service; report it to its operators, with the time of the call';
  if (error instanceof ReportError && error.code === 'report_not_written')
    return 'free disk space or grant the right, or name another folder with --out; the run is stored, and `nightscreen report --run ID` writes its report';
  if (error instanceof StoreError) return describeStoreNext(error, isDoctor);
  if (isOfFullDisk(error))
    return 'make room on that disk, or name a file on another one; then start the same command again';
  if (error instanceof NightscreenError) return null;
  return 'this is a fault of Nightscreen: repeat the command with --log-level debug and report its output';
}

function describeWhere(error: unknown): string | null {
  if (error instanceof ApiError) {
    const request = error.requestId ? `, request ${error.requestId}` : '';
    return `${error.method} ${error.path} (status ${error.status}${request})`;
  }
  return error instanceof CallError ? `${error.method} ${error.path}` : null;
}

function toCode(error: unknown): string {
  if (error instanceof NightscreenError) return error.code;
  return error instanceof CommanderError ? usageCode : 'unexpected';
}

/** The code of the operating system, if the message lacks it, such as that of a full disk or a missing right. */
function describeSystemCause(error: unknown, said: string): string {
  for (let cause = toCause(error); cause !== undefined; cause = toCause(cause)) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && /^E[A-Z]{3,}$/.test(code)) return said.includes(code) ? '' : ` (${code})`;
  }
  return '';
}

const toCause = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Describes any error without a stack trace; for the doctor without the advice to run the doctor. */
export function describeError(error: unknown, { isDoctor } = { isDoctor: false }): ErrorDescription {
  const problems = error instanceof ConfigError ? error.problems : [];
  const said = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const wrong = toCode(error) === usageCode ? 'arguments' : 'settings';
  const several = problems.length === 1 ? said : `${problems.length} ${wrong} are wrong`;
  return {
    code: toCode(error),
    message: error instanceof ConfigError ? several : `${said}${describeSystemCause(error, said)}`,
    problems,
    where: describeWhere(error),
    next: describeNext(error, isDoctor),
  };
}

/** The parts of an error beside code and message that are known. */
export const toErrorDetails = ({ problems, where, next }: ErrorDescription) => ({
  ...(problems.length > 0 && { problems }),
  ...(where !== null && { where }),
  ...(next !== null && { next }),
});

const reported = new WeakSet<object>();

/** Notes that a log line has reported this error, so that no other line does. */
export function noteReported(error: unknown): void {
  if (typeof error === 'object' && error !== null) reported.add(error);
}

export const isReported = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && reported.has(error);

/** The error as lines for people, in at most `width` columns where words allow it. */
export function formatError(description: ErrorDescription, width = Number.POSITIVE_INFINITY): string {
  const listed = description.problems.length > 1 ? description.problems : [];
  const hang = (head: string, text: string, indent = head.length): readonly string[] =>
    wrap(text, width - Math.max(head.length, indent)).map(
      (line, at) => `${at === 0 ? head : ' '.repeat(indent)}${line}`,
    );
  const [first = '', ...others] = description.message.split('\n');
  const lines = [
    ...hang('nightscreen: ', `${first}${description.code === usageCode ? '' : ` [${description.code}]`}`, 2),
    ...others.flatMap((line) => hang('  ', line)),
    ...listed.flatMap(({ where, path, message }) =>
      hang('  ', `${where}: ${path === '' ? '' : `${path}: `}${message}`, 4),
    ),
    ...(description.where === null ? [] : hang('  where: ', description.where)),
    ...(description.next === null ? [] : hang('  next:  ', description.next)),
  ];
  return showTimes(`${lines.join('\n')}\n`);
}

const adviceOnBackups: Readonly<Record<string, string>> = {
  backup_missing: 'name the file that `nightscreen db backup FILE` wrote; a relative path starts at the current folder',
  backup_unreadable: 'name the file itself, or grant this user the right to read it; the backup may be intact',
  backup_broken:
    'copy the file again from its original place and compare `sha256sum` with the output of `nightscreen db backup FILE`, or take an older backup',
  database_not_empty:
    'a scheduler or a cron line may have used a new database already: stop it, create the database again, and restore',
};

/** SQL states of a server that is unreachable, shuts down, has no disk space or accepts no connections. */
const awayStates = /^(?:08|53|57P|55000)/;
const forbiddenState = '42501';
const adviceOnRoom =
  'the database has no connection left: raise max_connections (or the limit of role, database or pooler), end idle sessions, or run fewer processes of Nightscreen. Then start the same command again';
const adviceOnDisk =
  'make room on the disk of the database (database.folder, or that of the server) and see that it is mounted for writing. Delete nothing in the data folder; then start the same command again';
const adviceOnReading =
  'the database is read-only: DATABASE_URL names a standby, or default_transaction_read_only is on. Name the primary, or switch it off, then start the same command again';

function describeStoreNext(error: StoreError, isDoctor: boolean): string | null {
  if (error instanceof FolderOwnerError) return error.remedy;
  if (error instanceof RunLockedError && error.isForMoment)
    return 'wait until it has finished. With Postgres (DATABASE_URL), commands read while a run goes on';
  if (error instanceof RunLockedError) return `wait until it has finished, or stop it: ${error.holder}`;
  if (error instanceof DatabaseMissingError)
    return 'use the folder (or --config), the user and the DATABASE_URL of the nightly runs. Only commands that screen create a database, such as `nightscreen onboard` and `nightscreen rescreen`';
  if (error.code === 'schema_in_use')
    return 'this version needs a newer schema, and nothing was changed. Wait until that process has finished, or stop it: its run can be resumed. Then start the same command again';
  if (error instanceof BackupError) return adviceOnBackups[error.code] ?? null;
  // Its message says what to do.
  if (error.code === 'backup_not_written') return null;
  if (isWithoutRoom(error)) return adviceOnRoom;
  if (isOfFullDisk(error)) return adviceOnDisk;
  if (error instanceof DatabaseError && error.code === 'database_error') return describeDatabaseNext(error, isDoctor);
  if (error.code === 'pooler_in_transaction_mode')
    return 'name the server itself in DATABASE_URL, or set the pooler to session mode (PgBouncer: pool_mode = session), then start the same command again';
  if (error.code === 'database_unreachable')
    return `check DATABASE_URL or database.folder, and that the server runs${isDoctor ? '' : '; `nightscreen doctor` tries it'}`;
  if (error.code === 'import_broken_off')
    return `when the database is back${isDoctor ? '' : ' (`nightscreen doctor` tries it)'}, start the same command again: it reads the roster from the start`;
  return null;
}

const isWithoutRoom = (error: unknown): boolean => {
  if (error instanceof DatabaseError && error.isWithoutRoom) return true;
  return error instanceof Error && error.cause !== undefined && isWithoutRoom(error.cause);
};

const fullDisk: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);
/** The same of the embedded engine, which gives numbers only. */
const fullDiskOfEngine = /\(errno (?:19|51|69)\)/;

/** Whether a file could not be written for want of room, or because its file system is read-only. */
function isOfFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError && error.sqlState === fullDiskState) return true;
  return fullDisk.has(readErrorCode(error)) || fullDiskOfEngine.test(error.message) || isOfFullDisk(error.cause);
}

function describeDatabaseNext({ sqlState }: DatabaseError, isDoctor: boolean): string | null {
  if (sqlState === '25006') return adviceOnReading;
  // No state means no answer: the connection broke, or files of the embedded database are damaged.
  if (sqlState === undefined || awayStates.test(sqlState))
    return `check the database of Nightscreen (DATABASE_URL or database.folder) and its disk${isDoctor ? '' : '; `nightscreen doctor` tries them. Then start the same command again: unfinished work is not stored'}`;
  if (sqlState === forbiddenState)
    return isDoctor
      ? 'grant the right to the login of DATABASE_URL, or use the login that owns the database'
      : 'the login of DATABASE_URL lacks a right: `nightscreen doctor` tries those of runs and migrations. Those of reviewers are in docs/review.md, docs/rosters.md and docs/settings-changes.md, those of workers in docs/scaling.md';
  return null;
}

/** The error as the document that `--json` prints; unknown parts are left out. */
export const toErrorDocument = (description: ReturnType<typeof describeError>) => ({
  schema: 'nightscreen/error/1',
  code: description.code,
  message: description.message,
  ...toErrorDetails(description),
});
