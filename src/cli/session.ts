import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { findUnknownVariables, type Override } from '../config/environment.js';
import { type Config, loadConfig } from '../config/load-config.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findFolderProblem } from '../files.js';
import { createLogger } from '../logging.js';
import { toVisibleText } from '../reports/text.js';
import { buildAppContext, findMissingService, listSecrets, type OpenAppContext } from './app-context.js';
import type { Invocation, Notify } from './invocation.js';
import { locateDatabase, requireDatabase, toFolderWaitPolicy } from './open-database.js';
import { publishAttempts, publishRunEvent } from './process.js';
import { logEvents, showProgress } from './progress.js';

/** Those that have heard of unknown variables: each is reported once, however often it reads its configuration. */
const hasHeard = new WeakSet<Notify>();

/**
 * The configuration of this invocation, flags applied; throws ConfigError with every mistake. Variables `NIGHTSCREEN_...` that nothing reads
 * are reported to `notify`.
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
 * asked for.
 */
export function openLogger({ terminal, askedSecrets }: Invocation, config: Config): Logger {
  const write = (line: string): void => {
    const safe = askedSecrets.redact(line);
    if (terminal.isScreen) terminal.writeMessage(`${clearLine}${formatLogLine(safe)}`, true);
    else terminal.writeMessage(safe);
  };
  return createLogger({ level: config.settings.log.level, secrets: listSecrets(config), write });
}

/** Reports run events as progress on a screen, and as log lines elsewhere and when the level is debug. */
function chooseReporter(invocation: Invocation, config: Config): ReturnType<typeof logEvents> {
  const { log, service } = config.settings;
  const lines = logEvents(openLogger(invocation, config), service.rate.perSecond);
  const isForPeople = invocation.terminal.isScreen && log.level !== 'debug';
  const progress = isForPeople ? showProgress(invocation.terminal, service.rate.perSecond) : null;
  return {
    emit: (event) => {
      publishRunEvent(event);
      invocation.lastRun.note(event);
      progress?.emit(event);
      if (progress === null) lines.emit(event);
    },
    close: () => {
      lines.close();
      progress?.close();
    },
  };
}

/**
 * Makes a choice and requires that the service can be called and the folders be written, before anything is spent; throws one ConfigError
 * with everything that stands in the way.
 */
export function requireService<Choice>(
  config: Config,
  choose: () => Choice,
  { writesReport = false }: { writesReport?: boolean } = {},
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
  const assess = (path: readonly [string, string], folder: string, variable: string): ConfigProblem[] => {
    const problem = findFolderProblem(folder);
    const message = `cannot be written: ${problem}; set it (or ${variable}) to another folder`;
    return problem === null ? [] : [{ where: originOf(path), path: path.join('.'), message }];
  };
  const { database, reports } = settings;
  // Whose an existing folder is, opening the database says.
  const isToBeMade = secret('DATABASE_URL') === undefined && !existsSync(database.folder);
  return [
    ...(isToBeMade ? assess(['database', 'folder'], database.folder, 'NIGHTSCREEN_DATA') : []),
    ...(writesReport ? assess(['reports', 'dir'], reports.dir, 'NIGHTSCREEN_REPORTS') : []),
  ];
}

/**
 * Opens what commands work with, works with it, and closes it whatever happens. What can be refused is refused before, so that no database is
 * opened for it.
 */
export async function withAppContext<Result>(
  invocation: Invocation,
  {
    config = loadInvocationConfig(invocation),
    command = invocation.command,
    isLasting = false,
    queryTimeoutMs,
    needsDatabase = false,
  }: {
    /** The configuration of this invocation, where it was read before. */
    config?: Config;
    /** What works, for operators, where that is not the command that was typed. */
    command?: string;
    /** Whether it may work for hours, so that nobody else waits for it. */
    isLasting?: boolean;
    /** How long the answer to one query is waited for on Postgres; without it as long as it takes. */
    queryTimeoutMs?: number;
    /** Whether it only reads what runs have left, or adds to it: a database that is missing, or empty, is an error then, and is not made. */
    needsDatabase?: boolean;
  },
  work: (app: OpenAppContext) => Promise<Result>,
): Promise<Result> {
  if (needsDatabase) requireDatabase(locateDatabase(config));
  const measuring =
    invocation.measuring ?? (isMeasured(config, command) ? await openMeasuring(invocation, config) : null);
  const { emit, close } = chooseReporter(invocation, config);
  const leaveTurn = await awaitTurn(config);
  try {
    const app = await buildAppContext({
      config,
      command,
      emit,
      waitPolicy: toFolderWaitPolicy(invocation, isLasting),
      observer: publishAttempts(measuring?.metrics.observer),
      queryTimeoutMs,
      needsDatabase,
      noteSecret: invocation.askedSecrets.add,
    }).catch(async (error: unknown) => {
      await measuring?.noteUnreadable(error);
      throw error;
    });
    invocation.noteOpen();
    try {
      return await work(app);
    } finally {
      await measuring?.refresh(app);
      await app.close();
    }
  } finally {
    close();
    leaveTurn();
  }
}

/** Loaded by those alone that leave metrics somewhere. */
async function openMeasuring({ signal, notify }: Invocation, config: Config) {
  const { measureCommand } = await import('./measuring.js');
  return measureCommand(config, signal, (message) => notify({ level: 'warn', code: 'metrics_not_left', message }));
}

const turns = new Map<string, Promise<void>>();

/**
 * Waits until all earlier work of this process with the embedded database has ended, because its folder is opened once at a time; what it gives ends the turn. Postgres takes
 * all at once.
 */
async function awaitTurn({ settings, secret }: Config): Promise<() => void> {
  let leave = (): void => undefined;
  if (secret('DATABASE_URL') !== undefined) return leave;
  const { folder } = settings.database;
  const before = turns.get(folder);
  const turn = new Promise<void>((resolve) => {
    leave = resolve;
  });
  turns.set(folder, turn);
  await before;
  return leave;
}

const ownFields: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'msg', 'err']);

const describeValue = (value: unknown): string =>
  typeof value === 'string' ? (/^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)) : JSON.stringify(value);

function describeError(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, message, stack, cause } = { code: '', message: '', stack: '', cause: null, ...error };
  const head = `  ${code === '' ? '' : `${code}: `}${message}`;
  return [head, ...(stack === '' ? [] : stack.split('\n').slice(1)), ...describeError(cause)];
}

/** A JSON line of the log as a person reads it: time of day, level, what, and the facts; an error with its causes on lines of its own. */
export function formatLogLine(line: string): string {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== 'object' || fields === null) return line;
  const { level, time, msg, err } = { level: '', time: '', msg: '', err: undefined, ...fields };
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    ownFields.has(name) ? [] : [`${name}=${describeValue(value)}`],
  );
  const head = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...facts].join(' ');
  return [head, ...describeError(err)].map((each) => `${toVisibleText(each)}\n`).join('');
}

/** The commands after which figures are others than before. */
const measured: ReadonlySet<string> = new Set([
  'rescreen',
  'onboard',
  'screen',
  'sweep',
  'import',
  'report',
  'runs resume',
  'review import',
  'mail retry',
  'mail drop',
  'status send',
  'watchdog',
]);

/** Whether a command that ends by itself is measured, and the settings say where its metrics are left. */
function isMeasured({ settings }: Config, command: string): boolean {
  return settings.metrics.textfile !== undefined && (measured.has(command) || command.startsWith('schedule run '));
}
