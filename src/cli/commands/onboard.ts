import type { Command } from 'commander';
import type { Act } from '../invocation.js';
import {
  addAcceptOption,
  chooseRoster,
  examples,
  findRosterAcceptance,
  parseWholeNumber,
  type RosterChoice,
  shared,
} from '../options.js';
import { presentImportPreview, presentRun } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';

/** Adds `onboard`. */
export function addOnboardCommand(program: Command, act: Act): void {
  const command = program
    .command('onboard')
    .summary('import a roster file, screen every new customer, report')
    .description('import a roster file, screen every new customer, and report')
    .addOption(shared('file', '<file>'))
    .addOption(shared('roster', '<name>'))
    .addOption(shared('max-searches', '<count>').argParser(parseWholeNumber(1)))
    .addOption(shared('dry-run'));
  addAcceptOption(command)
    .addHelpText(
      'after',
      examples(['onboard --file customers.csv --dry-run', 'onboard --file customers.csv --roster retail']),
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
