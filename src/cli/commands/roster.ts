import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { flagError } from '../../errors.js';
import { toVisibleText } from '../../reports/text.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Act } from '../invocation.js';
import { presentInspection } from '../present-inspection.js';
import { withWorkplace } from '../session.js';

interface InspectOptions {
  name?: string;
  delimiter?: string;
  encoding?: string;
  header: boolean;
}

/** Adds `roster inspect` and `roster except`. */
export function addRosterCommand(program: Command, act: Act): void {
  const roster = program.command('roster').description('look at roster files, and accept what cannot be read of them');
  addInspect(roster, act);
  addExcept(roster, act);
}

interface ExceptOptions {
  roster?: string;
  customer?: readonly string[];
  all?: true;
  until: string;
  by?: string;
  reason?: string;
}

function addExcept(roster: Command, act: Act): void {
  roster
    .command('except')
    .description(
      'accept until a day that customers stay unscreened because the roster cannot be read of them; runs and coverage do not end with exit code 3 because of them, their state stays',
    )
    .option('--roster <name>', 'which roster')
    .option('--customer <id...>', 'these customers')
    .addOption(new Option('--all', 'all that are open, rows without a readable id included').conflicts('customer'))
    .requiredOption('--until <day>', 'the last day of the exception, yyyy-mm-dd (UTC)', parseDay)
    .option('--by <name>', 'who accepts it; on Postgres the login says so')
    .option('--reason <text>', 'why it is right')
    .addHelpText(
      'after',
      examples([
        'roster except --customer C-17 --until 2027-01-31 --by "A. Meyer" --reason "the branch sends the name by Friday"',
        'roster except --roster retail --all --until 2027-01-31 --by "A. Meyer" --reason "export is being mended"',
      ]),
    )
    .action((options: ExceptOptions) =>
      act(async (invocation) => {
        const { acceptGaps } = await import('../../runs/coverage.js');
        const { findAcceptance } = await import('../../runs/settings-acceptance.js');
        const { customer, all, until, by, reason } = options;
        return withWorkplace(invocation, {
          command: 'roster except',
          needsDatabase: true,
          prepare: () => {
            if (customer === undefined && !all) throw flagError('--customer', 'is missing: say who, or --all');
            return { roster: options.roster, customers: customer ?? null, until };
          },
          work: async (workplace, choice) => {
            const acceptance = await findAcceptance(workplace.database, { by, reason });
            const accepted = await acceptGaps(workplace, choice, acceptance);
            const document = { schema: 'nightscreen/roster-exceptions/1', until, accepted };
            const rows = accepted.map(({ reference, reason: because, rows: count }) => [
              toVisibleText(reference ?? `${count} rows`),
              because,
              `until ${until}`,
            ]);
            const text = accepted.length === 0 ? 'nothing to accept\n' : formatTable(rows);
            return { exitCode: exitCodes.complete, document, text };
          },
        });
      }),
    );
}

/** A day as `yyyy-mm-dd`; throws InvalidArgumentError for anything else. */
function parseDay(text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  const isDay =
    /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
  if (!isDay) throw new InvalidArgumentError('a day is written as yyyy-mm-dd');
  return text;
}

function addInspect(roster: Command, act: Act): void {
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
