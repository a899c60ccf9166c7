import type { Command } from 'commander';
import type { Act } from '../invocation.js';
import {
  addAcceptOption,
  chooseRoster,
  examples,
  findRosterAcceptance,
  parseWholeNumber,
  type RosterChoice,
} from '../options.js';
import { presentImportPreview, presentRun } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';

/** Adds `onboard`. */
export function addOnboardCommand(program: Command, act: Act): void {
  const command = program
    .command('onboard')
    .description('import a roster file, screen every new customer, and report')
    .option('--file <file>', 'roster file (CSV); its standard headers need no configuration')
    .option('--roster <name>', 'name of the roster (default: the only configured one, or `default` if none is)')
    .option('--max-searches <count>', 'stop after this many searches', parseWholeNumber(1))
    .option('--dry-run', 'print rows, guards, searches, minutes and cost; store nothing and make no search');
  addAcceptOption(command)
    .addHelpText(
      'after',
      examples([
        'onboard --file customers.csv --dry-run',
        'onboard --file customers.csv',
        'onboard --file new.csv --roster retail --max-searches 1000',
      ]),
    )
    .action(({ maxSearches, dryRun, ...choice }: RosterChoice & { maxSearches?: number; dryRun?: true }) =>
      act(async (invocation) => {
        const { runScreening } = await import('../../runs/screening-run.js');
        const { previewOnboarding } = await import('../../runs/preview.js');
        const { signal } = invocation;
        const config = loadInvocationConfig(invocation);
        const choose = () => chooseRoster(config.settings.rosters, choice);
        const roster = dryRun ? choose() : requireService(config, choose, { writesReport: true });
        return withAppContext(invocation, { config, isLasting: true }, async (app) => {
          if (dryRun) return presentImportPreview(await previewOnboarding(app, roster, signal));
          const acceptRoster = await findRosterAcceptance(app.database, choice);
          const plan = { kind: 'onboard', selection: 'new', importFirst: true, writeReport: true } as const;
          return presentRun(await runScreening(app, { ...plan, roster, maxSearches, acceptRoster }, signal));
        });
      }),
    );
}
