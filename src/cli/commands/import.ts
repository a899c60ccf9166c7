import type { Command } from 'commander';
import { chooseRoster, type RosterChoice } from '../choose-rosters.js';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { presentRun } from '../present-run.js';
import { withWorkplace } from '../session.js';

/** Adds `import`. */
export function addImportCommand(program: Command, act: Act): void {
  program
    .command('import')
    .description('read a roster and store its customers, without searching')
    .option('--file <file>', 'roster file in place of the configured one')
    .option('--roster <name>', 'which roster')
    .addHelpText('after', examples(['import --roster retail', 'import --file customers.csv']))
    .action((options: RosterChoice) =>
      act(async (invocation) => {
        const { runImport } = await import('../../runs/rosters/import-run.js');
        return withWorkplace(invocation, {
          command: 'import',
          prepare: ({ settings }) => chooseRoster(settings.rosters, options),
          work: async (workplace, roster) => presentRun(await runImport(workplace, roster, invocation.signal)),
        });
      }),
    );
}
