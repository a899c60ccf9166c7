import type { Logger } from 'pino';
import { createLogger, type LoggerSettings } from '../logging.js';
import type { LastRun } from '../runs/app-context.js';
import { type ErrorDescription, formatError } from './describe-error.js';
import { exitCodes, InterruptedError } from './exit-code.js';
import type { Terminal } from './terminal.js';

const endingSignals = ['SIGINT', 'SIGTERM'] as const;
/** Answers may arrive for five seconds; what is then still being written is rolled back by the database (PROMISES: 15). */
const longestStopMs = 7_000;

/** What is said while a process is being asked to end. */
type StopListener = (event: { kind: 'asked'; signal: string } | { kind: 'overdue' }) => void;

/**
 * Turns the first SIGINT or SIGTERM into an abort; the second ends the process at once, and so does a stop that takes longer than 7
 * seconds, both with exit code 4: what was not saved is taken up by the next start.
 */
export function listenForSignals(emit: StopListener): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.stopped);
    emit({ kind: 'asked', signal: name });
    timer = setTimeout(() => {
      emit({ kind: 'overdue' });
      process.exit(exitCodes.stopped);
    }, longestStopMs);
    controller.abort(new InterruptedError(name));
  };
  for (const name of endingSignals) process.on(name, listen);
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      for (const name of endingSignals) process.off(name, listen);
    },
  };
}

/** What a command is told by, beside its result. */
interface LogMeans {
  terminal: Terminal;
  lastRun: LastRun;
  redact: (text: string) => string;
  /** Asked when there is something to tell. */
  findLevel: () => LoggerSettings['level'];
}

/** Tells what is to be known beside the result of a command, and goes on; `code` is stable. */
export type Notify = (notice: { level: 'info' | 'warn'; code: string; message: string }) => void;

/**
 * Tells what a command has to say beside its result, what ends it above all: in words on a screen, elsewhere as a line of the log with the
 * run and roster that it was at. The words of a failure stand beside that line where no run was begun, for whoever reads what a command said.
 */
export class CommandLog {
  readonly #means: LogMeans;

  constructor(means: LogMeans) {
    this.#means = means;
  }

  /** That something is to be known. */
  readonly notify: Notify = ({ level, code, message }) => {
    const { terminal, redact, findLevel } = this.#means;
    if (terminal.isScreen) terminal.writeMessage(redact(`nightscreen: ${message}\n`));
    else this.#openLogger(findLevel())?.[level]({ ...this.#describeRun(), code, message }, noticeNames[level]);
  };

  /** That the process is asked to end, or is taking too long to. */
  readonly stopping: StopListener = (event) => {
    const { terminal, findLevel } = this.#means;
    const words = describeStop(event);
    const logger = this.#openLogger(findLevel());
    if (logger === null) {
      terminal.writeMessage(`${terminal.isScreen ? '\n' : ''}nightscreen: ${words}\n`);
    } else if (event.kind === 'asked') {
      const { kind: _, ...facts } = event;
      logger.warn({ ...this.#describeRun(), ...facts, message: words }, 'stopping');
    } else {
      logger.error({ ...this.#describeRun(), message: words }, 'stop_overdue');
    }
  };

  /** That the command failed; the stack at level debug only. */
  failed(description: ErrorDescription, error: unknown): void {
    const { terminal, lastRun, redact, findLevel } = this.#means;
    const level = findLevel();
    const isDebug = level === 'debug';
    const logger = this.#openLogger(level);
    const { problems, where, next, ...said } = description;
    const facts = { ...(problems.length > 0 && { problems }), ...(where !== null && { where }), ...(next && { next }) };
    logger?.error({ ...this.#describeRun(), ...said, ...facts, ...(isDebug ? { err: error } : {}) }, 'command_failed');
    if (logger !== null && lastRun.current !== null) return;
    terminal.writeMessage(redact(`${formatError(description)}${this.#describeUnfinished()}`));
    if (isDebug && error instanceof Error && logger === null) terminal.writeMessage(redact(`${error.stack ?? ''}\n`));
  }

  /** Null on a screen, and where nothing is to be logged. */
  #openLogger(level: LoggerSettings['level']): Logger | null {
    const { terminal, redact } = this.#means;
    if (terminal.isScreen || level === 'silent') return null;
    return createLogger({ level, secrets: [], write: (line) => terminal.writeMessage(redact(line)) });
  }

  #describeRun(): Record<string, unknown> {
    const { current, listJobs } = this.#means.lastRun;
    if (listJobs === null) return current === null ? {} : { ...current };
    // A run that has ended says nothing about the job that a scheduler is at.
    return { jobs: listJobs(), ...(current === null || current.isFinished ? {} : current) };
  }

  #describeUnfinished(): string {
    const { current } = this.#means.lastRun;
    if (current === null || current.isFinished) return '';
    const run = `${current.runId}${current.roster === null ? '' : ` of ${current.roster}`}`;
    return `  run:   ${run} has not finished; the same command goes on from what was saved, \`nightscreen runs list\` shows it\n`;
  }
}

const noticeNames = { info: 'notice', warn: 'warning' } as const;

const describeStop = (event: Parameters<StopListener>[0]): string =>
  event.kind === 'asked'
    ? `${event.signal}: finishing what is under way; once more ends at once`
    : 'what was under way took too long and is given up; the next start goes on from what was saved';
