import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { findUnknownVariables } from '../config/find-unknown-variables.js';
import { type Config, loadConfig } from '../config/load-config.js';
import type { Override } from '../config/override.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findFolderProblem } from '../files.js';
import { createLogger } from '../logging.js';
import type { Notify } from './command-log.js';
import { toFolderPatience } from './folder-patience.js';
import { formatLogLine } from './format-log-line.js';
import { inTurn } from './in-turn.js';
import type { Invocation } from './invocation.js';
import { listSecrets } from './list-secrets.js';
import { logEvents } from './log-event.js';
import { isMeasured } from './measuring/is-measured.js';
import { locateDatabase, requireDatabase } from './open-database.js';
import { publishAttempts, publishRunEvent } from './process-channels.js';
import { showProgress } from './show-progress.js';
import type { Teller } from './teller.js';
import { buildWorkplace, findMissingService, type OpenWorkplace } from './workplace.js';

/** Those that have heard of unknown variables: each is told once, however often it reads its configuration. */
const hasHeard = new WeakSet<Notify>();

/**
 * The configuration of this invocation, flags applied; throws ConfigError with every mistake. Variables `NIGHTSCREEN_...` that nothing reads
 * are told to `notify`.
 */
export function loadInvocationConfig({
  options,
  environment,
  folder,
  notify,
}: Pick<Invocation, 'options' | 'environment' | 'folder'> & Partial<Pick<Invocation, 'notify'>>): Config {
  const flags: Override[] = [];
  if (options.logLevel) flags.push({ path: ['log', 'level'], value: options.logLevel, origin: 'flag --log-level' });
  const config = loadConfig({ environment, folder, file: options.config, flags });
  const unknown = findUnknownVariables(environment, config.settings);
  if (unknown.length === 0 || notify === undefined || hasHeard.has(notify)) return config;
  hasHeard.add(notify);
  const named = unknown.map(({ name, meant }) => `${name}${meant === null ? '' : ` (${meant} was meant?)`}`);
  const message = `nothing reads ${named.join(', ')}: correct the name, or remove the variable`;
  notify({ level: 'warn', code: 'unknown_variable', message });
  return config;
}

/** What a line of progress leaves on a screen goes before a line of the log. */
const clearLine = '\r\u001b[2K';

/**
 * The logger of this invocation: JSON lines on standard error, words on a screen, without any secret that is configured or that a job has
 * asked for. SIGUSR2 changes its level until it is detached from `invocation.logLevels`.
 */
export function openLogger({ terminal, logLevels, askedSecrets }: Invocation, config: Config): Logger {
  const write = (line: string): void => {
    const safe = askedSecrets.redact(line);
    if (terminal.isScreen) terminal.writeMessage(`${clearLine}${formatLogLine(safe)}`, true);
    else terminal.writeMessage(safe);
  };
  const logger = createLogger({ level: config.settings.log.level, secrets: listSecrets(config), write });
  logLevels.attach(logger);
  return logger;
}

/** Tells run events as progress on a screen, and as log lines elsewhere and when the level is debug. */
function chooseTeller(invocation: Invocation, config: Config): Teller {
  const { log, service } = config.settings;
  const logger = openLogger(invocation, config);
  const lines = logEvents(logger, service.rate.perSecond);
  const isForPeople = invocation.terminal.isScreen && log.level !== 'debug';
  const progress = isForPeople ? showProgress(invocation.terminal, service.rate.perSecond) : null;
  return {
    tell: (event) => {
      publishRunEvent(event);
      invocation.lastRun.note(event);
      progress?.tell(event);
      if (progress === null || logger.level === 'debug') lines.tell(event);
    },
    close: () => {
      lines.close();
      progress?.close();
      invocation.logLevels.detach(logger);
    },
  };
}

/** What a command that calls the service leaves behind. */
interface Leaving {
  /** Whether it writes a report at its end. */
  writesReport?: boolean;
}

/**
 * Makes a choice and requires that the service can be called and the folders be written, before anything is spent; throws one ConfigError
 * with everything that stands in the way.
 */
export function requireService<Choice>(
  config: Config,
  choose: () => Choice,
  { writesReport = false }: Leaving = {},
): Choice {
  const problems = [...findMissingService(config), ...findUnwritable(config, writesReport)];
  if (problems.length === 0) return choose();
  try {
    choose();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
  throw new ConfigError(problems);
}

function findUnwritable({ settings, secret, originOf }: Config, writesReport: boolean): ConfigProblem[] {
  const judge = (path: readonly [string, string], folder: string, variable: string): ConfigProblem[] => {
    const problem = findFolderProblem(folder);
    const message = `cannot be written: ${problem}; set it (or ${variable}) to another folder`;
    return problem === null ? [] : [{ where: originOf(path), path: path.join('.'), message }];
  };
  const { database, reports } = settings;
  // Whose an existing folder is, opening the database says.
  const isToBeMade = secret('DATABASE_URL') === undefined && !existsSync(database.folder);
  return [
    ...(isToBeMade ? judge(['database', 'folder'], database.folder, 'NIGHTSCREEN_DATA') : []),
    ...(writesReport ? judge(['reports', 'dir'], reports.dir, 'NIGHTSCREEN_REPORTS') : []),
  ];
}

/** What a command does with a workplace; `prepare` comes first, so that what can be refused is refused before a database is opened. */
export interface WorkplaceTask<Prepared, Result> {
  /** The name of the command, for operators. */
  command: string;
  /** Whether it may work for hours, so that nobody else waits for it. */
  isLasting?: boolean;
  /** How long the answer to one query is waited for on Postgres; without it as long as it takes. */
  queryTimeoutMs?: number;
  /** Whether it only reads what runs have left, or adds to it: a database that is missing, or empty, is an error then, and is not made. */
  needsDatabase?: boolean;
  prepare: (config: Config) => Prepared;
  work: (workplace: OpenWorkplace, prepared: Prepared) => Promise<Result>;
}

/** Prepares, opens a workplace, works in it, and closes it whatever happens. */
export async function withWorkplace<Prepared, Result>(
  invocation: Invocation,
  { command, isLasting = false, queryTimeoutMs, needsDatabase = false, prepare, work }: WorkplaceTask<Prepared, Result>,
): Promise<Result> {
  const config = loadInvocationConfig(invocation);
  const prepared = prepare(config);
  if (needsDatabase) requireDatabase(locateDatabase(config));
  const measuring =
    invocation.measuring ?? (isMeasured(config, command) ? await openMeasuring(invocation, config) : null);
  return inTurn(config, async () => {
    const { tell, close } = chooseTeller(invocation, config);
    try {
      const workplace = await buildWorkplace({
        config,
        command,
        tell,
        patience: toFolderPatience(invocation, isLasting),
        observer: publishAttempts(measuring?.metrics.observer),
        queryTimeoutMs,
        needsDatabase,
        noteSecret: invocation.askedSecrets.add,
      }).catch(async (error: unknown) => {
        await measuring?.noteUnreadable(error);
        throw error;
      });
      try {
        return await work(workplace, prepared);
      } finally {
        await measuring?.refresh(workplace);
        await workplace.close();
      }
    } finally {
      close();
    }
  });
}

/** Loaded by those alone that leave metrics somewhere. */
async function openMeasuring(invocation: Invocation, config: Config) {
  const { measureCommand } = await import('./measuring/measuring.js');
  return measureCommand(invocation, config);
}
