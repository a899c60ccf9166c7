import type { Environment } from '../config/environment.js';
import { nameInCommands, toVisibleJson, toVisibleLines } from '../reports/text.js';
import { exitCodes } from './exit-code.js';

const usualColumns = 80;

/**
 * Where a command writes: data to standard output, messages to standard error. Control characters of foreign text
 * never leave the process: JSON shows them as escapes, other text as their code points.
 */
export interface Terminal {
  /** Writes data; resolves when it has left the process. */
  writeData(text: string): Promise<void>;
  /** Writes a message for people; `isDrawn` means that it moves the cursor or has colours, and has no foreign text. */
  writeMessage(text: string, isDrawn?: boolean): void;
  /** Whether messages go to a screen, where progress can be redrawn. */
  readonly isScreen: boolean;
  /** The current width of that screen in characters. */
  readonly columns: number;
  readonly hasColours: boolean;
}

const command = /(?<=^|[\s`'"(|])(?<!npx --no )nightscreen (?:--organisation \S+ )?(--help|[A-Za-z]+)\b/gm;

/** How printed commands, such as `nightscreen runs`, are typed: a program that npm started need not be on the path of the shell. */
function toTyped(environment: Environment, commands: readonly string[]): (text: string) => string {
  const isByNpm = environment['npm_command'] === 'exec' || environment['npm_package_name'] === 'nightscreen';
  const words = new Set(['--help', 'help', 'COMMAND', ...commands]);
  const type = (found: string, word: string): string => (words.has(word) ? `npx --no ${found}` : found);
  return isByNpm ? (text) => text.replace(command, type) : (text) => text;
}

/** The terminal of this process, with the names of all commands. It ignores a closed reader (EPIPE), and ends the process with exit code 1 on a full disk. */
export function openTerminal(environment: Environment, commands: readonly string[]): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      const isMessages = stream === process.stderr;
      if (!isMessages) process.stderr.write(`nightscreen: the output cannot be written: ${error.message}\n`);
      process.exit(exitCodes.unexpected);
    });
  }
  const isScreen = process.stderr.isTTY === true;
  const typed = toTyped(environment, commands);
  const toPrintable = (text: string): string => makeVisible(isForPeople(text) ? typed(text) : text);
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

/** The same terminal, where the commands in messages name the organisation. */
export const nameInMessages = (terminal: Terminal, organisation: string | undefined): Terminal => ({
  ...terminal,
  writeMessage: (text, isDrawn) => terminal.writeMessage(nameInCommands(text, organisation), isDrawn),
  get columns() {
    return terminal.columns;
  },
});

// The byte order mark of a CSV file.
const mark = '\ufeff';

const isJson = (text: string): boolean => /^\s*[[{,]/.test(text);

const isForPeople = (text: string): boolean => !text.startsWith(mark) && !isJson(text);

function makeVisible(text: string): string {
  if (text.startsWith(mark)) return `${mark}${makeVisible(text.slice(1))}`;
  return isJson(text) ? toVisibleJson(text) : toVisibleLines(text);
}
