import { toVisibleJson, toVisibleLines } from '../reports/text.js';
import { exitCodes } from './exit-code.js';

const usualColumns = 80;

/**
 * Where a command writes: data to standard output, messages to standard error. Control characters never leave the process, whoever they
 * come from: JSON has them as escapes, other text as their code points.
 */
export interface Terminal {
  /** Writes data; resolves when it has left the process. */
  writeData(text: string): Promise<void>;
  /** Writes a message for people; `isDrawn` says that it moves the cursor or has colours, and that all else in it is visible text. */
  writeMessage(text: string, isDrawn?: boolean): void;
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
    writeData: (text) => new Promise((resolve) => process.stdout.write(toPrintable(text), () => resolve())),
    writeMessage: (text, isDrawn = false) => {
      process.stderr.write(isDrawn ? text : toPrintable(text));
    },
    isScreen,
    get columns() {
      // A pseudo terminal that nobody has given a size says 0.
      return process.stderr.columns || usualColumns;
    },
    hasColours: isScreen && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
  };
}

function toPrintable(text: string): string {
  // The byte order mark of a CSV file.
  if (text.startsWith('\ufeff')) return `\ufeff${toPrintable(text.slice(1))}`;
  return /^\s*[[{,]/.test(text) ? toVisibleJson(text) : toVisibleLines(text);
}
