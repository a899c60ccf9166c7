import { type Command, Option } from 'commander';
import type { RosterSettings } from '../../roster/settings.js';
import { chooseStoredRoster, type RosterChoice } from '../choose-rosters.js';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { presentPreview } from '../present-preview.js';
import { presentRun } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';

interface ScreenOptions extends RosterChoice {
  due?: true;
  new?: true;
  all?: true;
  dryRun?: true;
  maxSearches?: number;
}

const toSelection = (options: ScreenOptions): 'due' | 'new' | 'all' =>
  options.all ? 'all' : options.new ? 'new' : 'due';

/** Adds `screen`. */
export function addScreenCommand(program: Command, act: Act): void {
  program
    .command('screen')
    .description('search for the customers of a roster that has been imported')
    .addOption(new Option('--due', 'customers whose screening is due (the default)').conflicts(['new', 'all']))
    .addOption(new Option('--new', 'only customers that were never screened as they are now').conflicts(['due', 'all']))
    .addOption(new Option('--all', 'every customer').conflicts(['due', 'new']))
    .addOption(
      // A file is stored when it is read, and a preview stores nothing.
      new Option('--dry-run', 'say how many searches it would take, and make none').conflicts('file'),
    )
    .option('--max-searches <count>', 'stop after so many searches', parseWholeNumber(1))
    .option('--file <file>', 'import this roster file first')
    .option('--roster <name>', 'which roster')
    .addHelpText(
      'after',
      examples(['screen --due --dry-run', 'screen --new --max-searches 500', 'screen --all --roster retail']),
    )
    .action((options: ScreenOptions) =>
      act(async (invocation) => {
        const { previewScreening } = await import('../../runs/planning/preview-screening.js');
        const { runScreening } = await import('../../runs/screening-run.js');
        const { maxSearches } = options;
        return withWorkplace(invocation, {
          command: 'screen',
          prepare: (config) => {
            const choose = (): RosterSettings => chooseStoredRoster(config.settings.rosters, options);
            return options.dryRun ? choose() : requireService(config, choose);
          },
          work: async (workplace, roster) => {
            const selection = toSelection(options);
            if (options.dryRun) return presentPreview(await previewScreening(workplace, roster, selection));
            const importFirst = options.file !== undefined;
            const plan = { kind: 'screen', roster, selection, importFirst, writeReport: false } as const;
            return presentRun(await runScreening(workplace, { ...plan, maxSearches }, invocation.signal));
          },
        });
      }),
    );
}
