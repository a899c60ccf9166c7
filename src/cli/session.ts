import { channel } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';
import { toKeyMode } from '../client/credentials.js';
import type { AttemptObserver } from '../client/operation.js';
import { systemClock } from '../clock.js';
import { findUnknownVariables, keyVariable, type Override } from '../config/environment.js';
import { type Config, chooseConfig, loadConfigs } from '../config/load-config.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findFolderProblem } from '../files.js';
import { createLogger } from '../logging.js';
import { isLoopback } from '../loopback.js';
import { nameInCommands, toVisibleText } from '../reports/text.js';
import { LastRun, type RunEvent } from '../runs/app-context.js';
import { buildAppContext, findMissingService, listSecrets, type OpenAppContext } from './app-context.js';
import { describeError, toErrorDocument } from './describe-error.js';
import { combineExitCodes, exitCodes, toErrorExitCode } from './exit-code.js';
import { type Invocation, type Notify, type Outcome, toOutcome, type Work } from './invocation.js';
import { locateDatabase, requireDatabase, toFolderWaitPolicy } from './open-database.js';
import { clearLine, describeRunning, logEvents, showProgress } from './progress.js';
import { nameInMessages } from './terminal.js';

/** An invocation that reads its configuration several times reports unknown variables once. */
const hasReported = new WeakSet<Notify>();

/** The configuration of the named organisation, or of the only one; throws as `loadInvocationConfigs`, and when several are possible. */
export const loadInvocationConfig = (invocation: ConfigSource): Config =>
  chooseConfig(loadInvocationConfigs(invocation), invocation.options.organisation);

/** What a configuration is made from; `notify` gets unknown variables, and `readSecrets` what texts must not show. */
type ConfigSource = Pick<Invocation, 'options' | 'environment' | 'folder'> &
  Partial<Pick<Invocation, 'notify' | 'readSecrets'>>;

/** The configurations of all organisations, with the flags; throws ConfigError with every mistake. */
export function loadInvocationConfigs(invocation: ConfigSource): readonly Config[] {
  const { options, environment, folder, notify, readSecrets } = invocation;
  const flags: Override[] = [];
  if (options.logLevel) flags.push({ path: ['log', 'level'], value: options.logLevel, origin: 'flag --log-level' });
  else if (options.quiet) flags.push({ path: ['log', 'level'], value: 'error', origin: 'flag --quiet' });
  const configs = loadConfigs({ environment, folder, file: options.config, flags });
  // The error messages of a command hide the secrets with fixed names only.
  for (const { value } of configs.flatMap(({ secrets }) => secrets)) readSecrets?.add(value);
  const named = configs.map(({ settings, variableOf }) => ({ settings, apiKeyEnv: variableOf(keyVariable) }));
  const unknown = findUnknownVariables(environment, named);
  if (unknown.length === 0 || notify === undefined || hasReported.has(notify)) return configs;
  hasReported.add(notify);
  const words = unknown.map(({ name, meant }) => `${name}${meant === null ? '' : ` (did you mean ${meant}?)`}`);
  const message = `unknown variables: ${words.join(', ')}; correct the name, or remove the variable`;
  notify({ level: 'warn', code: 'unknown_variable', message });
  return configs;
}

/** The invocations for each organisation; the invocation itself where one is named, or only one is configured. */
export function listInvocations(invocation: Invocation): readonly Invocation[] {
  if (invocation.options.organisation !== undefined) return [invocation];
  const names = loadInvocationConfigs(invocation).map(({ settings }) => settings.organisation);
  if (names.length === 1) return [invocation];
  const { options, terminal } = invocation;
  return names.map((organisation) => ({
    ...invocation,
    options: { ...options, organisation },
    isBesideOthers: true,
    terminal: nameInMessages(terminal, organisation),
    lastRun: new LastRun(),
  }));
}

/** Does the work for each organisation where none is named; several outcomes are one document, and texts below each other. */
export async function runForEach<Result extends Awaited<ReturnType<Work>>>(
  invocation: Invocation,
  work: (invocation: Invocation) => Promise<Result>,
  invocations = listInvocations(invocation),
): Promise<Result | Outcome> {
  const [only, second] = invocations;
  if (only && !second) return work(only);
  const attempt = async (one: Invocation) => {
    const { organisation } = one.options;
    const outcome = await work(one).catch((error: unknown) => reportFailure(one, error));
    return { organisation, outcome: outcome && 'document' in outcome ? nameInOutcome(outcome, organisation) : outcome };
  };
  // The embedded database can be opened only once at a time.
  const isEmbedded = only === undefined || loadInvocationConfig(only).secret('DATABASE_URL') === undefined;
  let former: Promise<unknown> = Promise.resolve();
  const pending = invocations.map((one) => {
    const turn = isEmbedded ? former.then(() => attempt(one)) : attempt(one);
    former = turn;
    return turn;
  });
  const outcomes = await Promise.all(pending);
  const exitCode = combineExitCodes(outcomes.map(({ outcome }) => outcome?.exitCode ?? exitCodes.complete));
  // Work until a signal ends by it, as it should.
  for (const { outcome } of outcomes) if (outcome && 'isWritten' in outcome) return { ...outcome, exitCode };
  invocation.signal.throwIfAborted();
  const parts = outcomes.flatMap(({ organisation, outcome }) =>
    outcome && 'document' in outcome ? [{ organisation, ...outcome }] : [],
  );
  return toOutcome(
    'nightscreen/organisations/1',
    { organisations: parts.map(({ organisation, exitCode, document }) => ({ organisation, exitCode, document })) },
    parts.map(({ organisation, text }) => `${organisation}\n${text}`).join('\n'),
    exitCode,
  );
}

const documentSchema = z.looseObject({ schema: z.string() });

const nameInOutcome = ({ exitCode, document, text }: Outcome, organisation: string | undefined): Outcome => ({
  exitCode,
  document: documentSchema.parse(JSON.parse(nameInCommands(JSON.stringify(document), organisation))),
  text: nameInCommands(text, organisation),
});

/** Reports at once that the work for one organisation failed; that for the others can last until a signal. */
function reportFailure({ options: { organisation }, notify }: Invocation, error: unknown): Outcome {
  const description = describeError(error);
  const { schema, ...facts } = toErrorDocument(description);
  const message = error instanceof Error ? error.message : description.message;
  notify({
    level: 'warn',
    code: description.code,
    message: `${organisation}: ${nameInCommands(message, organisation)}`,
  });
  return toOutcome(schema, facts, `failed: ${description.code}\n`, toErrorExitCode(error));
}

/** The logger: JSON lines on standard error, words on a screen. It redacts configured secrets and those that jobs read. */
export function openLogger({ terminal, readSecrets, options }: Invocation, config: Config): Logger {
  const write = (line: string): void => {
    const safe = readSecrets.redact(line);
    if (terminal.isScreen) terminal.writeMessage(`${clearLine}${formatLogLine(safe)}`, true);
    else terminal.writeMessage(safe);
  };
  const logger = createLogger({ level: config.settings.log.level, secrets: listSecrets(config), write });
  const { organisation } = options;
  return organisation === undefined ? logger : logger.child({ organisation });
}

const runEvents = channel('nightscreen:run-event');
const attempts = channel('nightscreen:attempt');

/** Publishes a run event to listeners in this process, such as a preloaded tracer; it holds no customer data. */
export const publishRunEvent = (event: RunEvent): void =>
  runEvents.publish('error' in event ? { ...event, error: undefined } : event);

/** The observer, which also publishes each ended attempt to listeners in this process as `{ attempt, end }`. */
export const publishAttempts = (observer: AttemptObserver = {}): AttemptObserver => ({
  ...observer,
  ended: (attempt, end) => {
    observer.ended?.(attempt, end);
    attempts.publish({ attempt, end });
  },
});

/** Shows run events as progress on a screen; writes them as log lines elsewhere and at level debug. */
function chooseReporter(invocation: Invocation, config: Config) {
  const { log, service } = config.settings;
  const { perSecond } = service.rate;
  const { options, terminal, isBesideOthers = false } = invocation;
  const isForPeople = terminal.isScreen && log.level !== 'debug' && !options.quiet && !isBesideOthers;
  const { emit, close, meter } = isForPeople
    ? showProgress(terminal, perSecond)
    : logEvents(openLogger(invocation, config), perSecond);
  return {
    emit: (event: RunEvent): void => {
      publishRunEvent(event);
      invocation.lastRun.note(event);
      emit(event);
    },
    close,
    sayProgress: (): string | null => describeRunning(invocation.lastRun, meter.figures, systemClock.now()),
  };
}

/** Requires the service and writable folders, and gives what `choose` does; throws one ConfigError with all problems. */
export async function requireService<Choice>(
  config: Config,
  choose: () => Choice | Promise<Choice>,
  { writesReport = false }: { writesReport?: boolean } = {},
): Promise<Choice> {
  const problems = [...findMissingService(config), ...findUnwritable(config, writesReport)];
  if (problems.length === 0) return choose();
  try {
    await choose();
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
  // Opening the database checks the owner of an existing folder.
  const isToBeMade = secret('DATABASE_URL') === undefined && !existsSync(database.folder);
  return [
    ...(isToBeMade ? assess(['database', 'folder'], database.folder, 'NIGHTSCREEN_DATA') : []),
    ...(writesReport ? assess(['reports', 'dir'], reports.dir, 'NIGHTSCREEN_REPORTS') : []),
  ];
}

/** Opens the app context, does the work, and closes the context in any case. Callers check their options before. */
export async function withAppContext<Result>(
  invocation: Invocation,
  {
    config = loadInvocationConfig(invocation),
    command = invocation.command,
    isLasting = false,
    queryTimeoutMs,
    needsDatabase = false,
  }: {
    config?: Config;
    /** The name of the work for operators, if it is not the typed command. */
    command?: string;
    /** Whether it may work for hours: other processes do not wait for it. */
    isLasting?: boolean;
    queryTimeoutMs?: number;
    /** Whether the command needs the data of earlier runs: a missing or empty database is an error then. */
    needsDatabase?: boolean;
  },
  work: (app: OpenAppContext) => Promise<Result>,
): Promise<Result> {
  if (needsDatabase) requireDatabase(locateDatabase(config));
  const { measuring } = invocation;
  const { emit, close, sayProgress } = chooseReporter(invocation, config);
  const result = await inTurn(config, async () => {
    const app = await buildAppContext({
      config,
      command,
      folder: invocation.folder,
      emit,
      waitPolicy: toFolderWaitPolicy(invocation, isLasting, sayProgress),
      observer: publishAttempts(measuring?.metrics.observer),
      queryTimeoutMs,
      needsDatabase,
      noteSecret: invocation.readSecrets.add,
    }).catch((error: unknown) => {
      measuring?.noteUnreadable(error);
      throw error;
    });
    invocation.noteOpen();
    try {
      return await work(app);
    } finally {
      await measuring?.refresh(app);
      await app.close();
    }
  }).finally(close);
  if (searching.has(command)) noteSandbox(invocation, config);
  return result;
}

/** The commands that search for customers or names. */
const searching: ReadonlySet<string> = new Set(['onboard', 'rescreen', 'screen', 'runs resume', 'check']);

/** A service on this machine with a test key is nearly always the sandbox, in whose list no real name is found. */
function noteSandbox({ notify }: Invocation, { settings: { service }, secret }: Config): void {
  const key = secret(keyVariable);
  if (service.baseUrl === undefined || key === undefined || toKeyMode(key) !== 'test') return;
  if (!isLoopback(new URL(service.baseUrl))) return;
  const message =
    'the service is on this machine. The list of `nightscreen sandbox` has invented names: it finds no real sanctioned name';
  notify({ level: 'warn', code: 'sandbox', message });
}

/** The last work of this process in each embedded database. */
const lastWork = new Map<string, Promise<unknown>>();

/** Does work after all earlier work of this process in the embedded database, whose folder can be opened only once at a time. */
function inTurn<Result>({ settings, secret }: Config, work: () => Promise<Result>): Promise<Result> {
  if (secret('DATABASE_URL') !== undefined) return work();
  const { folder } = settings.database;
  const before = lastWork.get(folder) ?? Promise.resolve();
  const result = before.then(work);
  lastWork.set(
    folder,
    result.catch(() => undefined),
  );
  return result;
}

const ownFields: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'msg', 'err']);

const describeValue = (value: unknown): string =>
  typeof value === 'string' ? (/^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)) : JSON.stringify(value);

function describeCauses(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, message, stack, cause } = { code: '', message: '', stack: '', cause: null, ...error };
  const head = `  ${code === '' ? '' : `${code}: `}${message}`;
  return [head, ...(stack === '' ? [] : stack.split('\n').slice(1)), ...describeCauses(cause)];
}

/** A JSON log line in words: time of day, level, message and facts; an error and its causes get lines of their own. */
export function formatLogLine(line: string): string {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== 'object' || fields === null) return line;
  const { level, time, msg, err } = { level: '', time: '', msg: '', err: undefined, ...fields };
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    ownFields.has(name) ? [] : [`${name}=${describeValue(value)}`],
  );
  const head = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...facts].join(' ');
  return [head, ...describeCauses(err)].map((each) => `${toVisibleText(each)}\n`).join('');
}
