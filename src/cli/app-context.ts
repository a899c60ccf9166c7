import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '../client/client.js';
import type { AttemptObserver } from '../client/operation.js';
import { type Clock, systemClock } from '../clock.js';
import { listNamedSecrets } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { listEntries } from '../mail/settings.js';
import { toDurationMs } from '../roster/duration.js';
import type { AppContext, RunEvent } from '../runs/app-context.js';
import { findNextRun } from '../scheduling/due-times.js';
import type { FolderWaitPolicy } from '../store/database/folder-lock.js';
import type { ConnectionEvent } from '../store/database/reconnecting.js';
import { locateDatabase, requireSchema, toEventsFolder } from './open-database.js';
import { version } from './process.js';

/** What a context is built from; `command` names this process to operators. */
interface AppContextParts {
  config: Config;
  command: string;
  emit: (event: RunEvent) => void;
  clock?: Clock;
  /** Is notified of every attempt at the service. */
  observer?: AttemptObserver | undefined;
  /** How the folder of the embedded database is taken; without it, at once or not at all. */
  waitPolicy?: FolderWaitPolicy;
  /** How long the answer to one query is waited for on Postgres; without it as long as it takes. */
  queryTimeoutMs?: number | undefined;
  /** Whether a database without a schema of ours is an error, and gets none. */
  needsDatabase?: boolean;
  /** Is given each secret before whoever asked for it. */
  noteSecret?: (value: string) => void;
}

/** A context that is open; `close` frees the database and the connections. */
export interface OpenAppContext extends AppContext {
  close(): Promise<void>;
}

/** What is still missing before the service can be called, all at once. */
export function findMissingService(config: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (config.settings.service.baseUrl === undefined) {
    const message = 'is not set: set NIGHTSCREEN_BASE_URL or write it into the file, as in https://service.example/v1';
    problems.push({ where: config.originOf(['service', 'baseUrl']), path: 'service.baseUrl', message });
  }
  if (config.secret('NIGHTSCREEN_API_KEY') === undefined) {
    const message =
      'is not set: it holds the private key of the service (or NIGHTSCREEN_API_KEY_FILE names a file with it)';
    problems.push({ where: 'env NIGHTSCREEN_API_KEY', path: '', message });
  }
  return problems;
}

/** What is still missing before a report can be mailed; nothing where no mail is configured. */
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

/** One person cannot be distinguished from another on the embedded database, so two people cannot be asked for there; nothing where they need not. */
export function findFourEyesProblems({ settings, secret, originOf }: Config): ConfigProblem[] {
  if (settings.review.fourEyes.length === 0 || secret('DATABASE_URL') !== undefined) return [];
  const message =
    'needs a database with a login for each reviewer, and the embedded one knows one only: set DATABASE_URL, or leave it empty';
  return [{ where: originOf(['review', 'fourEyes']), path: 'review.fourEyes', message }];
}

async function openMigrated({
  config,
  command,
  emit,
  waitPolicy,
  queryTimeoutMs,
  needsDatabase = false,
}: AppContextParts): Promise<AppContext['database']> {
  const { openDatabase } = await import('../store/database/open-database.js');
  const { migrate } = await import('../store/database/migrate.js');
  const location = locateDatabase(config);
  const reconnect =
    queryTimeoutMs === undefined
      ? { reconnectForMs: toDurationMs(config.settings.database.reconnectFor), emit: toConnectionListener(emit) }
      : // It is to say how the database is at this moment.
        undefined;
  const database = await openDatabase({ ...location, queryTimeoutMs, reconnect }, `nightscreen ${command}`, waitPolicy);
  try {
    if (needsDatabase) await requireSchema(database, location);
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Reports once of each outage of the database, and once of its end. */
const toConnectionListener =
  (emit: AppContextParts['emit']) =>
  (event: ConnectionEvent): void => {
    const [code, message] =
      event.kind === 'lost'
        ? [
            'database_lost',
            `the connection to the database was lost (${event.because}); it is tried again for up to ${event.reconnectForMs / 1_000} s (database.reconnectFor)`,
          ]
        : ['database_is_back', `the database answers again after ${(event.afterMs / 1_000).toFixed(1)} s`];
    emit({ kind: 'warning', runId: null, code, message });
  };

/** Where a key that came from a file is read again. */
function toKeySource({ secrets, secret }: Config): { readKeyAgain?: () => string | undefined } {
  const key = secrets.find(({ name }) => name === 'NIGHTSCREEN_API_KEY');
  return key && key.from !== key.name ? { readKeyAgain: () => secret(key.name) } : {};
}

/** A timer may start a run this early: the next run is the one after it. */
const earlyMs = 60_000;

/** Only a schedule that somebody wrote down is relied on: without one the runs may be started by anything. */
function findNextRescreening({ settings }: Config, now: Date): Date | null {
  const { cron, timezone = 'UTC', enabled = true } = settings.jobs.rescreen ?? {};
  return cron === undefined || !enabled ? null : findNextRun({ cron, timezone }, new Date(now.getTime() + earlyMs));
}

/**
 * Opens and migrates the database and puts everything beside it that a run works with; the client is made at first use. Throws ConfigError
 * when the settings ask for more than the database can do.
 */
export async function buildAppContext(parts: AppContextParts): Promise<OpenAppContext> {
  const { config, clock = systemClock } = parts;
  const { settings } = config;
  const impossible = findFourEyesProblems(config);
  if (impossible.length > 0) throw new ConfigError(impossible);
  const { createClient } = await import('../client/client.js');
  const database = await openMigrated(parts);
  let client: Client | undefined;
  return {
    database,
    client: () => {
      if (client) return client;
      const problems = findMissingService(config);
      const baseUrl = settings.service.baseUrl;
      const apiKey = config.secret('NIGHTSCREEN_API_KEY');
      if (baseUrl === undefined || apiKey === undefined) throw new ConfigError(problems);
      client = createClient({
        ...settings.service,
        baseUrl,
        apiKey,
        clock,
        ...toKeySource(config),
        ...(parts.observer ? { observer: parts.observer } : {}),
      });
      client.listen((event) => parts.emit({ kind: 'service', event }));
      return client;
    },
    clock,
    settings,
    ...(config.secret('DATABASE_URL') === undefined && { eventsFolder: toEventsFolder(config) }),
    acceptsEmbedded: settings.database.acceptEmbedded,
    nextRescreening: () => findNextRescreening(config, clock.now()),
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

/** Every secret value that is configured, those of the rosters' own databases, webhooks and pings included; one that cannot be read is left out. */
export function listSecrets(config: Config): string[] {
  const known = config.secrets.map((secret) => secret.value);
  const named = listNamedSecrets(config.settings).flatMap((name) => {
    try {
      const value = config.secret(name) ?? '';
      // A variable may hold two secrets while one takes the place of the other.
      return [value, ...value.split(/\s+/)];
    } catch {
      return [];
    }
  });
  return [...known, ...named].filter((secret) => secret !== '');
}
