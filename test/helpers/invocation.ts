import type { Invocation } from '../../src/cli/invocation.js';
import { openRedactor } from '../../src/logging.js';
import { LastRun } from '../../src/runs/workplace.js';

/** What a command has written. */
export interface Written {
  stdout: string;
  stderr: string;
}

/** An invocation in a folder, what is written by it, and what a signal does to it. */
export function makeInvocation(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): { invocation: Invocation; terminal: Written; stop: () => void } {
  const terminal: Written = { stdout: '', stderr: '' };
  const stopping = new AbortController();
  const invocation: Invocation = {
    command: 'test',
    options: {},
    environment,
    folder,
    signal: stopping.signal,
    terminal: {
      writeData: async (text) => {
        terminal.stdout += text;
      },
      writeMessage: (text) => {
        terminal.stderr += text;
      },
      isScreen: false,
      columns: 80,
      hasColours: false,
    },
    notify: ({ message }) => {
      terminal.stderr += `${message}\n`;
    },
    askedSecrets: openRedactor(),
    lastRun: new LastRun(),
  };
  return { invocation, terminal, stop: () => stopping.abort(new Error('SIGTERM')) };
}
