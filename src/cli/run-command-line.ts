import { CommanderError } from 'commander';
import { type Environment, readSecret, secretNames } from '../config/environment.js';
import { type LoggerSettings, openRedactor, toRedactor } from '../logging.js';
import { LastRun } from '../runs/workplace.js';
import { CommandLog } from './command-log.js';
import { describeError, toErrorDocument } from './describe-error.js';
import { exitCodes, toErrorExitCode } from './exit-code.js';
import type { Act, GlobalOptions, Invocation, Outcome } from './invocation.js';
import { listenForLogLevels } from './log-levels.js';
import { createProgram } from './program.js';
import { loadInvocationConfig } from './session.js';
import { listenForSignals } from './signals.js';
import type { Terminal } from './terminal.js';

/** What the command line is called with. */
interface CommandLine {
  /** Without the interpreter and the script. */
  words: readonly string[];
  environment: Environment;
  folder: string;
  terminal: Terminal;
}

/** Runs one command to its end and gives the exit code; whatever goes wrong is told, never thrown. */
export async function runCommandLine({ words, environment, folder, terminal }: CommandLine): Promise<number> {
  const askedSecrets = openRedactor();
  const lastRun = new LastRun();
  const redact = (text: string): string => askedSecrets.redact(toRedactor(listEnvironmentSecrets(environment))(text));
  const commandLog = new CommandLog({ terminal, lastRun, redact, findLevel });
  const listening = listenForSignals(commandLog.stopping);
  const logLevels = listenForLogLevels();
  const isJson = words.includes('--json');
  let helpText = '';
  let usageText = '';
  let exitCode: number = exitCodes.complete;
  const act: Act = async (action) => {
    const options: GlobalOptions = program.opts();
    const { signal } = listening;
    const { notify } = commandLog;
    const invocation: Invocation = {
      options,
      environment,
      folder,
      terminal,
      notify,
      signal,
      logLevels,
      askedSecrets,
      lastRun,
    };
    const outcome = await action(invocation);
    if (outcome === null) return;
    exitCode = outcome.exitCode;
    if ('isWritten' in outcome) return;
    await terminal.writeData(isJson ? toLine(outcome.document) : outcome.text);
  };
  const program = createProgram(act, {
    writeOut: (text) => {
      helpText += text;
    },
    writeErr: (text) => {
      usageText += text;
    },
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    exitCode = isHelp ? exitCodes.complete : toErrorExitCode(error);
    if (!isHelp) await tellError(error);
  } finally {
    listening.stop();
    logLevels.stop();
  }
  if (helpText !== '') await terminal.writeData(helpText);
  return exitCode;

  async function tellError(error: unknown): Promise<void> {
    const isWithoutCommand = error instanceof CommanderError && error.code === 'commander.help';
    const description = isWithoutCommand
      ? { ...describeError(error), message: 'no command was given' }
      : describeError(error);
    if (isWithoutCommand && !isJson) terminal.writeMessage(`${usageText}\n`);
    commandLog.failed(description, error);
    if (isJson) await terminal.writeData(redact(toLine(toErrorDocument(description))));
  }

  function findLevel(): LoggerSettings['level'] {
    try {
      return loadInvocationConfig({ options: program.opts(), environment, folder }).settings.log.level;
    } catch {
      return program.opts<GlobalOptions>().logLevel === 'debug' ? 'debug' : 'info';
    }
  }
}

const toLine = (document: Outcome['document'] | Record<string, unknown>): string => `${JSON.stringify(document)}\n`;

/** The secrets of the environment that can be read, for keeping them out of error messages even when the configuration is wrong. */
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
