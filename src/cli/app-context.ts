import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Client } from '../client/client.js';
import type { AttemptObserver } from '../client/operation.js';
import { type Clock, systemClock } from '../clock.js';
import { keyVariable, listNamedSecrets } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { listEntries } from '../mail/settings.js';
import { countNoun } from '../reports/text.js';
import { toDurationMs } from '../roster/duration.js';
import type { AppContext, JobSchedule, RunEvent } from '../runs/app-context.js';
import { findLastDue, listNextRuns, toDueTimes } from '../scheduling/due-times.js';
import type { FolderWaitPolicy } from '../store/database/folder-lock.js';
import type { DatabaseLocation } from '../store/database/open-database.js';
import { listEarlierData, locateDatabase, nameServer, requireSchema, toEventsFolder } from './open-database.js';
import { version } from './process.js';

/** `command` names this process to operators. */
interface AppContextParts {
  config: Config;
  command: string;
  /** In place of the database of the configuration. */
  location?: DatabaseLocation;
  /** The working folder: data of earlier runs there, beside a new database, is a warning. */
  folder?: string;
  emit: (event: RunEvent) => void;
  clock?: Clock;
  observer?: AttemptObserver | undefined;
  /** How long a locked folder of the embedded database is waited for; not at all by default. */
  waitPolicy?: FolderWaitPolicy;
  queryTimeoutMs?: number | undefined;
  /** Whether a database without our schema is an error; by default the schema is created. */
  needsDatabase?: boolean;
  /** Gets each secret before its reader does. */
  noteSecret?: (value: string) => void;
}

/** An open app context; `close` frees the database and the connections. */
export interface OpenAppContext extends AppContext {
  close(): Promise<void>;
}

/** All settings that are missing before the service can be called. */
export function findMissingService(config: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (config.settings.service.baseUrl === undefined) {
    const message = 'is not set: set NIGHTSCREEN_BASE_URL or write it into the file, as in https://service.example/v1';
    problems.push({ where: config.originOf(['service', 'baseUrl']), path: 'service.baseUrl', message });
  }
  const { keyProblems } = config;
  const variable = config.variableOf(keyVariable);
  if (keyProblems.length === 0 && config.secret(keyVariable) === undefined) {
    const message = `is not set: it holds the private key of the service (or ${variable}_FILE names a file with it)`;
    problems.push({ where: `env ${variable}`, path: '', message });
  }
  return [...problems, ...keyProblems];
}

/** All settings that are missing before a report can be mailed; none when no mail is configured. */
export function findMissingMail({ settings: { mail }, secret, originOf }: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (mail?.transport === 'smtp' && secret('SMTP_URL') === undefined) {
    const message = 'is smtp, but SMTP_URL (or SMTP_URL_FILE) is not set';
    problems.push({ where: originOf(['mail', 'transport']), path: 'mail.transport', message });
  }
  const hasArchive = mail && listEntries(mail).some(({ attach }) => attach === 'archive');
  if (hasArchive && secret('NIGHTSCREEN_ARCHIVE_PASSWORD') === undefined) {
    const message =
      'attaches an archive, but NIGHTSCREEN_ARCHIVE_PASSWORD (or NIGHTSCREEN_ARCHIVE_PASSWORD_FILE) is not set';
    problems.push({ where: originOf(['mail']), path: 'mail', message });
  }
  return problems;
}

/** Four eyes need logins that differ; the embedded database has one login only. */
export function findFourEyesProblems({ settings, secret, originOf }: Config): ConfigProblem[] {
  if (settings.review.fourEyes.length === 0 || secret('DATABASE_URL') !== undefined) return [];
  const message =
    'needs a database with a login for each reviewer; the embedded one has one login only: set DATABASE_URL, or leave it empty';
  return [{ where: originOf(['review', 'fourEyes']), path: 'review.fourEyes', message }];
}

/** Workers meet in a database that several processes can open. */
export function findFleetProblems({ settings, secret, originOf }: Config): ConfigProblem[] {
  if (settings.fleet === false || secret('DATABASE_URL') !== undefined) return [];
  const message = 'needs a database that several processes open: set DATABASE_URL, or leave it out';
  return [{ where: originOf(['fleet']), path: 'fleet', message }];
}

async function openMigrated(parts: AppContextParts): Promise<AppContext['database']> {
  const { config, folder, emit, queryTimeoutMs } = parts;
  const { openDatabase } = await import('../store/database/open-database.js');
  const { hasSchema, migrate } = await import('../store/database/migrate.js');
  const { location = locateDatabase(config) } = parts;
  const warn = (code: string, message: string): void => emit({ kind: 'warning', runId: null, code, message });
  const reconnect: DatabaseLocation['reconnect'] = {
    reconnectForMs,
    emit: (event) => {
      if (event.kind === 'back') {
        return warn('database_is_back', `the database answers again after ${(event.afterMs / 1_000).toFixed(1)} s`);
      }
      const limit = `${event.reconnectForMs / 1_000} s`;
      const message = `there is no connection to the database (${event.because}); Nightscreen tries to connect for up to ${limit}`;
      warn('database_lost', message);
    },
  };
  // A command with a limit reports the state of the database at this moment.
  const where = { ...location, queryTimeoutMs, ...(queryTimeoutMs === undefined && { reconnect }) };
  const database = await openDatabase(where, `nightscreen ${parts.command}`, parts.waitPolicy);
  try {
    if (parts.needsDatabase) await requireSchema(database, location);
    else if (folder !== undefined && !(await hasSchema(database))) {
      const earlier = listEarlierData(config, folder);
      if (earlier.length > 0) warn('second_database', await describeSecond(location, folder, earlier));
    }
    await migrate(database);
    if (!parts.needsDatabase) await warnOfNew(database, config, warn);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** An organisation without data, beside others that no entry names, is probably one of them under another name. */
async function warnOfNew(
  database: AppContext['database'],
  { settings: { organisation }, organisations }: Config,
  warn: (code: string, message: string) => void,
): Promise<void> {
  const { readOrganisationNames } = await import('../store/organisations.js');
  const known = await readOrganisationNames(database);
  const left = known.filter((name) => !organisations.includes(name));
  if (known.includes(organisation) || left.length === 0) return;
  const others = `${countNoun(left.length, 'organisation')} with customers that this configuration does not name`;
  const meaning = `organisation ${organisation} has no data yet, beside ${others}`;
  const next = 'If it had another name before, stop this command, and write that name';
  warn('new_organisation', `${meaning}. ${next}`);
}

async function describeSecond(
  { url, folder = '' }: DatabaseLocation,
  workingFolder: string,
  earlier: readonly string[],
): Promise<string> {
  const created = url === undefined ? resolve(workingFolder, folder) : await nameServer(url);
  const meaning = 'The new database knows none of it: all customers are searched again, and dispositions are missing';
  const next = 'If that was not meant, stop this command, and correct --config, database.folder or DATABASE_URL';
  return `a new database is created at ${created}, beside earlier data: ${earlier.join(', ')}. ${meaning}. ${next}`;
}

const reconnectForMs = 90_000;

/** A timer may start a run this much before its due time; that run is not the next one. */
const earlyMs = 60_000;

/** Only a configured schedule counts: without one any other tool may start the runs. */
function findNextRescreening({ settings }: Config, now: Date): Date | null {
  const { timezone } = settings;
  const { rescreen: cron = 'off' } = settings.jobs;
  if (cron === 'off') return null;
  return listNextRuns({ cron, timezone }, new Date(now.getTime() + earlyMs))[0] ?? null;
}

function findLastRescreening({ settings }: Config, kept: JobSchedule | null, now: Date): Date | null {
  const { timezone } = settings;
  const { rescreen: cron } = settings.jobs;
  const schedule = cron === undefined ? kept : { cron, timezone };
  if (schedule === null || schedule.cron === 'off') return null;
  return findLastDue(toDueTimes(schedule), now)?.dueAt ?? null;
}

/**
 * Opens and migrates the database and builds the context of a run; the client is created at first use. Throws
 * ConfigError when the database cannot do what the settings need.
 */
export async function buildAppContext(parts: AppContextParts): Promise<OpenAppContext> {
  const { config, clock = systemClock } = parts;
  const { settings } = config;
  const impossible = [...findFourEyesProblems(config), ...findFleetProblems(config)];
  if (impossible.length > 0) throw new ConfigError(impossible);
  // The client and its HTTP library take a third of the time that a command without calls needs, such as `runs`.
  const key = config.secrets.find(({ name }) => name === keyVariable);
  const library = settings.service.baseUrl !== undefined && key ? await import('../client/client.js') : null;
  const database = await openMigrated(parts);
  let client: Client | undefined;
  return {
    database,
    client: () => {
      if (client) return client;
      const problems = findMissingService(config);
      const baseUrl = settings.service.baseUrl;
      const apiKey = config.secret(keyVariable);
      if (library === null && problems.length === 0) {
        const message = 'was set after this command started; start the command again';
        problems.push({ where: `env ${config.variableOf(keyVariable)}`, path: '', message });
      }
      const isLacking = library === null || baseUrl === undefined || apiKey === undefined;
      if (isLacking || problems.length > 0) throw new ConfigError(problems);
      client = library.createClient({
        ...settings.service,
        baseUrl,
        apiKey,
        clock,
        // A key from a file can be read again.
        ...(key && key.from !== config.variableOf(keyVariable) ? { readKeyAgain: () => config.secret(key.name) } : {}),
        ...(parts.observer ? { observer: parts.observer } : {}),
      });
      client.listen((event) => parts.emit({ kind: 'service', event }));
      return client;
    },
    clock,
    settings,
    nameInCommands: config.nameInCommands,
    ...(config.secret('DATABASE_URL') === undefined && { eventsFolder: toEventsFolder(config) }),
    acceptsEmbedded: settings.database.acceptEmbedded,
    keepRunsMs: toDurationMs(settings.database.keepRuns),
    nextRescreening: () => findNextRescreening(config, clock.now()),
    lastRescreening: (kept) => findLastRescreening(config, kept, clock.now()),
    settingsDigest: config.settingsDigest,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    version,
    emit: parts.emit,
    secret: (name) => {
      const value = config.secret(name);
      if (value !== undefined) parts.noteSecret?.(value);
      return value;
    },
    close: async () => {
      await client?.close();
      await database.close();
    },
  };
}

/** Every configured secret value, that of a roster, webhook or ping included; unreadable ones are left out. */
export function listSecrets(config: Config): string[] {
  const known = config.secrets.map((secret) => secret.value);
  const named = listNamedSecrets(config.settings).flatMap((name) => {
    try {
      const value = config.secret(name) ?? '';
      // A variable may hold two secrets during a rotation.
      return [value, ...value.split(/\s+/)];
    } catch {
      return [];
    }
  });
  return [...known, ...named].filter((secret) => secret !== '');
}
