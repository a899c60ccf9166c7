import { toVisibleJson, toVisibleLines } from '../reports/text.js';
import { exitCodes } from './exit-code.js';

const usualColumns = 80;

/**
 * Where a command writes: data to standard output, messages to standard error. Control characters of foreign text never leave the process:
 * JSON shows them as escapes, other text as their code points.
 */
export interface Terminal {
  /** Writes data; resolves when it has left the process. */
  writeData(text: string): Promise<void>;
  /** Writes a message for people; `isDrawn` means that it moves the cursor or has colours, and that its other characters are visible. */
  writeMessage(text: string, isDrawn?: boolean): void;
  /** Whether messages go to a screen, where progress can be redrawn. */
  readonly isScreen: boolean;
  /** The current width of that screen in characters. */
  readonly columns: number;
  readonly hasColours: boolean;
}

/** The terminal of this process; it ignores a closed reader (EPIPE), and ends the process with exit code 1 on a full disk. */
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
      // A pseudo terminal without a size reports 0.
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
