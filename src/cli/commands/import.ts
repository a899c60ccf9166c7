import { type Command, Option } from 'commander';
import type { Act } from '../invocation.js';
import {
  addAcceptOption,
  chooseRoster,
  examples,
  findRosterAcceptance,
  type RosterChoice,
  shared,
} from '../options.js';
import { presentImportPreview, presentRun } from '../present-run.js';
import { loadInvocationConfig, withAppContext } from '../session.js';

/** Adds `import`. */
export function addImportCommand(program: Command, act: Act): void {
  const command = program
    .command('import')
    .description('read a roster and store its customers, without searching')
    .addOption(shared('file', '<file>'))
    .addOption(
      new Option('--delta <file>', 'add and change the customers of this file; none counts as absent').conflicts(
        'file',
      ),
    )
    .addOption(shared('roster', '<name>'))
    .addOption(shared('dry-run'));
  addAcceptOption(command)
    .addHelpText('after', examples(['import --file customers.csv --dry-run', 'import --delta rejects.csv']))
    .action(({ dryRun, ...choice }: RosterChoice & { dryRun?: true }) =>
      act(async (invocation) => {
        const { runImport } = await import('../../runs/import/import-run.js');
        const { previewImport } = await import('../../runs/preview.js');
        const { signal } = invocation;
        const isDelta = choice.delta !== undefined;
        const config = loadInvocationConfig(invocation);
        const roster = chooseRoster(config.settings.rosters, choice);
        return withAppContext(invocation, { config, isLasting: true }, async (app) => {
          if (dryRun) return presentImportPreview(await previewImport(app, roster, signal, { isDelta }));
          const acceptRoster = await findRosterAcceptance(app.database, choice);
          return presentRun(await runImport(app, roster, signal, { isDelta, acceptRoster }));
        });
      }),
    );
}
