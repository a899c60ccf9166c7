import { type Command, CommanderError } from 'commander';
import type { Logger } from 'pino';
import { type Environment, readSecret, secretNames } from '../config/environment.js';
import { createLogger, openRedactor, toRedactor } from '../logging.js';
import { nameInCommands } from '../reports/text.js';
import { LastRun } from '../runs/app-context.js';
import type { logLevels } from '../vocabulary.js';
import { describeError, formatError, isReported, toErrorDetails, toErrorDocument } from './describe-error.js';
import { exitCodes, InterruptedError, toErrorExitCode } from './exit-code.js';
import type { Act, Invocation, Notify, Outcome } from './invocation.js';
import { mailDirectly } from './notify.js';
import { endingSignals, leaveSignals } from './process.js';
import { createProgram } from './program.js';
import { loadInvocationConfigs } from './session.js';
import { nameInMessages, type Terminal } from './terminal.js';
import { showTimes } from './text.js';

/** Runs one command to its end and returns the exit code; it reports every error and throws none. */
export async function runCommandLine({
  words,
  environment,
  folder,
  terminal,
}: {
  words: readonly string[];
  environment: Environment;
  folder: string;
  terminal: Terminal;
}): Promise<number> {
  const readSecrets = openRedactor();
  const lastRun = new LastRun();
  const redact = (text: string): string => readSecrets.redact(toRedactor(listEnvironmentSecrets(environment))(text));
  const name = (text: string): string => nameInCommands(text, program.opts<Invocation['options']>().organisation);
  const present = (text: string): string => name(redact(text));
  const commandLog = openCommandLog({ terminal, lastRun, present, findLevel, isQuiet: words.includes('--quiet') });
  const isJson = words.includes('--json');
  const help: string[] = [];
  const usage: string[] = [];
  let exitCode: number = exitCodes.complete;
  let command = '';
  let isOpen = false;
  const called: { action?: Parameters<Act>[0]; mailedAs?: string | undefined } = {};
  const act: Act = (action, mailedAs) => Object.assign(called, { action, mailedAs });
  const output = { writeOut: (text: string) => help.push(text), writeErr: (text: string) => usage.push(text) };
  const program = await createProgram(act, output, words);
  // What is said at a signal depends on the options of the command.
  const listening = listenForSignals(commandLog, (error) => {
    void reportError(error).finally(() => process.exit(exitCodes.unexpected));
  });
  program.hook('preAction', (_, called) => {
    command = nameCommand(called);
  });
  const toInvocation = (): Invocation => ({
    command,
    options: program.opts(),
    environment,
    folder,
    terminal: nameInMessages(terminal, program.opts<Invocation['options']>().organisation),
    notify: commandLog.notify,
    signal: listening.signal,
    readSecrets,
    lastRun,
    noteOpen: () => {
      isOpen = true;
    },
  });
  try {
    program.parse([...words], { from: 'user' });
    const outcome = await called.action?.(toInvocation());
    if (outcome) exitCode = outcome.exitCode;
    if (outcome && !('isWritten' in outcome)) {
      await terminal.writeData(name(isJson ? toLine(outcome.document) : outcome.text));
    }
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    exitCode = isHelp ? exitCodes.complete : toErrorExitCode(error);
    if (called.mailedAs !== undefined && !isOpen && !terminal.isScreen) {
      await mailDirectly(toInvocation(), { task: called.mailedAs, roster: null, error, signal: listening.signal });
    }
    if (!isHelp) await reportError(error);
  } finally {
    listening.stop();
  }
  if (help.length > 0) await terminal.writeData(help.join(''));
  return exitCode;

  async function reportError(error: unknown): Promise<void> {
    const isWithoutCommand = error instanceof CommanderError && error.code === 'commander.help';
    const called = words.find((word) => program.commands.some((each) => each.name() === word));
    const described = describeError(error);
    const description = {
      ...described,
      ...(isWithoutCommand && { message: 'no command is given' }),
      ...(called !== undefined && { next: described.next?.replace('COMMAND', called) ?? null }),
    };
    if (isWithoutCommand && !isJson && terminal.isScreen) terminal.writeMessage(`${usage.join('')}\n`);
    commandLog.failed(description, error);
    if (isJson) await terminal.writeData(present(toLine(toErrorDocument(description))));
  }

  function findLevel(): (typeof logLevels)[number] {
    try {
      const [config] = loadInvocationConfigs({ options: program.opts(), environment, folder });
      return config?.settings.log.level ?? 'info';
    } catch {
      const { logLevel, quiet } = program.opts<Invocation['options']>();
      return logLevel === 'debug' ? 'debug' : quiet ? 'error' : 'info';
    }
  }
}

const nameCommand = (called: Command): string =>
  called.parent?.parent ? `${nameCommand(called.parent)} ${called.name()}` : called.name();

const toLine = (document: Outcome['document'] | Record<string, unknown>): string => `${JSON.stringify(document)}\n`;

/** The readable secrets of the environment: error messages must not show them, even when the configuration is wrong. */
function listEnvironmentSecrets(environment: Environment): string[] {
  return secretNames.flatMap((name) => {
    const plain = environment[name];
    if (plain) return [plain];
    try {
      const secret = readSecret(environment, name);
      return secret ? [secret.value] : [];
    } catch {
      return [];
    }
  });
}

/** Answers may arrive for five seconds; the database rolls back what is still being written after that. */
const longestStopMs = 7_000;

/**
 * Turns the first SIGINT or SIGTERM into an abort. A second signal, or a stop that takes longer than 7 seconds, ends
 * the process at once with exit code 4; the next start repeats what was not saved. An error that nobody catches goes to
 * `fail`, which ends the process.
 */
function listenForSignals(log: Pick<CommandLog, 'stopping' | 'overdue'>, fail: (error: unknown) => void) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.stopped);
    log.stopping(name);
    timer = setTimeout(() => {
      log.overdue();
      process.exit(exitCodes.stopped);
    }, longestStopMs);
    controller.abort(new InterruptedError(name));
  };
  for (const name of endingSignals) process.on(name, listen);
  process.on('uncaughtException', fail);
  leaveSignals();
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      for (const name of endingSignals) process.off(name, listen);
      process.off('uncaughtException', fail);
    },
  };
}

type CommandLog = ReturnType<typeof openCommandLog>;

/**
 * Reports notices, stops and failures of a command once: as words on a screen, elsewhere as log lines with the current
 * run and roster.
 */
export function openCommandLog({
  terminal,
  lastRun,
  present,
  findLevel,
  isQuiet,
}: {
  terminal: Terminal;
  lastRun: LastRun;
  /** The text without secrets, as this command shows it. */
  present: (text: string) => string;
  findLevel: () => (typeof logLevels)[number];
  isQuiet: boolean;
}) {
  const write = (text: string): void => terminal.writeMessage(present(text));
  /** Null on a screen and at level `silent`. */
  const openLogger = (): Logger | null => {
    const level = findLevel();
    return terminal.isScreen || level === 'silent' ? null : createLogger({ level, secrets: [], write });
  };
  const sayStop = (level: 'warn' | 'error', facts: { message: string; signal?: string }, name: string): void => {
    const logger = openLogger();
    if (logger) logger[level]({ ...describeRun(lastRun), ...facts }, name);
    else write(`${terminal.isScreen ? '\n' : ''}nightscreen: ${facts.message}\n`);
  };
  return {
    notify: ({ level, code, message }: Parameters<Notify>[0]): void => {
      if (isQuiet) return;
      if (terminal.isScreen) write(`nightscreen: ${showTimes(message)}\n`);
      else openLogger()?.[level]({ ...describeRun(lastRun), code, message }, noticeNames[level]);
    },
    /** Reports that a signal asks the process to end. */
    stopping: (signal: string): void => {
      const message = `${signal}: finishing the current work; a second signal ends the process at once`;
      if (!isQuiet) sayStop('warn', { signal, message }, 'stopping');
    },
    /** Reports that the end of the process takes too long. */
    overdue: (): void => {
      const message = 'the current work took too long and is abandoned; the next start continues from what was saved';
      sayStop('error', { message }, 'stop_overdue');
    },
    /** Reports that the command failed, at level debug with the stack; what the end of its run said is not repeated. */
    failed: (given: ReturnType<typeof describeError>, error: unknown): void => {
      const level = findLevel();
      const isDebug = level === 'debug';
      const isShown = !isQuiet && (terminal.isScreen || !['error', 'silent'].includes(level));
      const description = isShown ? { ...given, message: lastRun.shorten(given.message) } : given;
      const logger = openLogger();
      if (logger === null) {
        const words = formatError(description, terminal.isScreen ? terminal.columns : undefined);
        write(`${words}${describeUnfinished(lastRun)}`);
        if (isDebug && error instanceof Error) write(`${error.stack ?? ''}\n`);
      } else if (!isReported(error)) {
        const { code, message } = description;
        const facts = { ...describeRun(lastRun), code, message, ...toErrorDetails(description) };
        logger.error({ ...facts, ...(isDebug ? { err: error } : {}) }, 'command_failed');
      }
    },
  };
}

function describeRun({ current, listJobs }: LastRun): Record<string, unknown> {
  if (listJobs === null) return current === null ? {} : { ...current };
  // A finished run is not the run of the scheduler's current job.
  return { jobs: listJobs(), ...(current === null || current.isFinished ? {} : current) };
}

function describeUnfinished({ current }: LastRun): string {
  if (current === null || current.isFinished) return '';
  const run = `${current.runId}${current.roster === null ? '' : ` of ${current.roster}`}`;
  return `  run:   ${run} has not finished; the same command continues it from what was saved, \`nightscreen runs\` shows it\n`;
}

const noticeNames = { info: 'notice', warn: 'warning' } as const;
