import { CommanderError } from 'commander';
import { createProgram } from '../../src/cli/run-command-line.js';

/** The words of a command as a shell splits them, without comments and what is behind a pipe or another command. */
export function splitWords(line: string): string[] {
  const [command = ''] = line.split(/\s+#|\s[|>;]|\s&&/);
  return [...command.matchAll(/(?:"([^"]*)"|'([^']*)'|(\S+))/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

/** Why the program would refuse these words as they are typed: a command, an option or a value that it does not know. Null: it takes them. */
export async function findRefusal(words: readonly string[]): Promise<string | null> {
  const program = createProgram(async () => {}, { writeOut: () => {}, writeErr: () => {} });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return null;
    return `${words.join(' ')}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The names of the commands of the program. */
export const commandNames: readonly string[] = createProgram(async () => {}, {
  writeOut: () => {},
  writeErr: () => {},
}).commands.map((command) => command.name());
