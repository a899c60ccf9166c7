import { CommanderError } from 'commander';
import type { Environment } from '../config/environment.js';
import { openRedactor, toRedactor } from '../logging.js';
import { describeError, formatError, toErrorDocument } from './describe-error.js';
import { exitCodes, toErrorExitCode } from './exit-code.js';
import type { Act, GlobalOptions, Invocation, Outcome } from './invocation.js';
import { listEnvironmentSecrets } from './list-environment-secrets.js';
import { listenForLogLevels } from './log-levels.js';
import { createProgram } from './program.js';
import { listenForSignals, type TellStop } from './signals.js';
import type { Terminal } from './terminal.js';

/** What the command line is called with. */
export interface CommandLine {
  /** Without the interpreter and the script. */
  words: readonly string[];
  environment: Environment;
  folder: string;
  terminal: Terminal;
}

/** Runs one command to its end and gives the exit code; whatever goes wrong is told, never thrown. */
export async function runCommandLine({ words, environment, folder, terminal }: CommandLine): Promise<number> {
  const listening = listenForSignals((event) => terminal.writeMessage(`\nnightscreen: ${describeStop(event)}\n`));
  const logLevels = listenForLogLevels();
  const askedSecrets = openRedactor();
  const isJson = words.includes('--json');
  let helpText = '';
  let usageText = '';
  let exitCode: number = exitCodes.complete;
  const act: Act = async (action) => {
    const options: GlobalOptions = program.opts();
    const { signal } = listening;
    const invocation: Invocation = { options, environment, folder, terminal, signal, logLevels, askedSecrets };
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
    const redactKnown = toRedactor(listEnvironmentSecrets(environment));
    const redact = (text: string): string => askedSecrets.redact(redactKnown(text));
    const isWithoutCommand = error instanceof CommanderError && error.code === 'commander.help';
    const description = isWithoutCommand
      ? { ...describeError(error), message: 'no command was given' }
      : describeError(error);
    const isDebug = program.opts<GlobalOptions>().logLevel === 'debug';
    if (isWithoutCommand && !isJson) terminal.writeMessage(`${usageText}\n`);
    terminal.writeMessage(redact(formatError(description)));
    if (isDebug && error instanceof Error) terminal.writeMessage(redact(`${error.stack ?? ''}\n`));
    if (isJson) await terminal.writeData(redact(toLine(toErrorDocument(description))));
  }
}

const describeStop: (...said: Parameters<TellStop>) => string = (event) =>
  event.kind === 'asked'
    ? `${event.signal}: finishing what is under way; once more ends at once`
    : 'what was under way took too long and is given up; the next start goes on from what was saved';

const toLine = (document: Outcome['document'] | Record<string, unknown>): string => `${JSON.stringify(document)}\n`;
