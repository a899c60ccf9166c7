import { exitCodes } from './exit-code.js';

const usualColumns = 80;

/** Where a command writes: data to standard output, messages to standard error. */
export interface Terminal {
  /** Writes data; resolves when it has left the process. */
  writeData(text: string): Promise<void>;
  /** Writes a message for people. */
  writeMessage(text: string): void;
  /** Whether messages go to a screen, so that progress may be redrawn. */
  readonly isScreen: boolean;
  /** Characters that fit on one line of that screen, at this moment. */
  readonly columns: number;
  /** Whether messages may be coloured. */
  readonly hasColours: boolean;
}

/** The terminal of this process; a reader of its output that has gone away (EPIPE) is met with silence, a full disk with exit code 1. */
export function openTerminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      const isMessages = stream === process.stderr;
      if (!isMessages) process.stderr.write(`nightscreen: the output cannot be written: ${error.message}\n`);
      process.exit(exitCodes.unexpected);
    });
  }
  const isScreen = process.stderr.isTTY === true;
  return {
    writeData: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
    writeMessage: (text) => {
      process.stderr.write(text);
    },
    isScreen,
    get columns() {
      // A pseudo terminal that nobody has given a size says 0.
      return process.stderr.columns || usualColumns;
    },
    hasColours: isScreen && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
  };
}
