import type { Command } from 'commander';
import { chooseRoster, type RosterChoice } from '../choose-rosters.js';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { presentRun } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';

/** Adds `onboard`. */
export function addOnboardCommand(program: Command, act: Act): void {
  program
    .command('onboard')
    .description('import a roster file, screen every new customer, and report')
    .option('--file <file>', 'roster file (CSV); its standard headers need no configuration')
    .option('--roster <name>', 'name of the roster (default: default)')
    .option('--max-searches <count>', 'stop after so many searches', parseWholeNumber(1))
    .addHelpText(
      'after',
      examples(['onboard --file customers.csv', 'onboard --file new.csv --roster retail --max-searches 1000']),
    )
    .action(({ maxSearches, ...choice }: RosterChoice & { maxSearches?: number }) =>
      act(async (invocation) => {
        const { runScreening } = await import('../../runs/screening-run.js');
        return withWorkplace(invocation, {
          command: 'onboard',
          prepare: (config) => requireService(config, () => chooseRoster(config.settings.rosters, choice)),
          work: async (workplace, roster) => {
            const plan = { kind: 'onboard', selection: 'new', importFirst: true, writeReport: true } as const;
            return presentRun(await runScreening(workplace, { ...plan, roster, maxSearches }, invocation.signal));
          },
        });
      }),
    );
}
