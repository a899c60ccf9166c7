import { resolve } from 'node:path';
import type { Command } from 'commander';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { presentInspection } from '../present-inspection.js';

interface InspectOptions {
  name?: string;
  delimiter?: string;
  encoding?: string;
  header: boolean;
}

/** Adds `roster inspect`. */
export function addRosterCommand(program: Command, act: Act): void {
  const roster = program.command('roster').description('look at roster files');
  roster
    .command('inspect <file>')
    .description(
      'read a file nobody has described yet, or the first that matches a pattern: how it is written, what its rows would become, and the configuration to paste',
    )
    .option('--name <name>', 'name of the roster in that configuration (default: from the name of the file)')
    .option('--delimiter <character>', 'the character between the fields, where the guess is wrong')
    .option('--encoding <encoding>', 'how its letters are written, where the guess is wrong')
    .option('--no-header', 'its first line is a row already')
    .addHelpText(
      'after',
      examples(['roster inspect crm-export.csv', 'roster inspect kunden.csv --encoding windows-1252']),
    )
    .action((file: string, options: InspectOptions) =>
      act(async ({ folder }) => {
        const { inspectFile, toRosterName } = await import('../../roster/inspect/inspect-file.js');
        const { name = toRosterName(file), delimiter, encoding } = options;
        const header = options.header ? undefined : false;
        const path = file === '-' ? file : resolve(folder, file);
        return presentInspection(await inspectFile({ path, name, delimiter, encoding, header }));
      }),
    );
}
