import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { PublishedList } from '../../lists/listed-party.js';
import type { RosterSettings } from '../../roster/settings.js';
import type { RunSummary } from '../../runs/run-summary.js';
import type { PlanSelection } from '../../vocabulary.js';
import type { Act, Outcome } from '../invocation.js';
import {
  addAcceptOption,
  chooseStoredRoster,
  examples,
  findRosterAcceptance,
  parseWholeNumber,
  type RosterAcceptance,
  type RosterChoice,
} from '../options.js';
import { addBecauseOf, mostNamed, presentPreview } from '../present-preview.js';
import { presentNothingMarked, presentRun } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';
import type { OpenWorkplace } from '../workplace.js';

interface ScreenOptions extends RosterChoice, RosterAcceptance {
  due?: true;
  new?: true;
  all?: true;
  dirty?: true;
  becauseOf?: string;
  dryRun?: true;
  maxSearches?: number;
}

const toSelection = (options: ScreenOptions): PlanSelection => {
  if (options.all) return 'all';
  if (options.new) return 'new';
  return options.becauseOf === undefined || options.due ? 'due' : 'forced';
};

async function preview(
  workplace: OpenWorkplace,
  roster: RosterSettings,
  selection: PlanSelection,
  list: PublishedList | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  if (!list) {
    const { previewScreening } = await import('../../runs/preview.js');
    return presentPreview(await previewScreening(workplace, roster, selection));
  }
  const { previewBecauseOf } = await import('../../runs/preview.js');
  const options = { selection, list, mostNamed };
  const found = await previewBecauseOf(workplace, roster, options, signal);
  return addBecauseOf(presentPreview(found.preview), found);
}

async function present(workplace: OpenWorkplace, summary: RunSummary): Promise<Outcome> {
  const { describeBecauseOf } = await import('../../runs/checks/because-of.js');
  const becauseOf = await describeBecauseOf(workplace.database, summary.runId, mostNamed);
  const outcome = presentRun(summary);
  return becauseOf ? addBecauseOf(outcome, becauseOf) : outcome;
}

/** Adds `screen`. */
export function addScreenCommand(program: Command, act: Act): void {
  const command = program
    .command('screen')
    .description('search for the customers of a roster that has been imported')
    .addOption(new Option('--due', 'customers whose screening is due (the default)').conflicts(['new', 'all']))
    .addOption(new Option('--new', 'only customers that were never screened as they are now').conflicts(['due', 'all']))
    .addOption(new Option('--all', 'every customer').conflicts(['due', 'new']))
    .addOption(
      new Option(
        '--dirty',
        'only customers that events or changes of dossiers have marked, within screening.dirty',
      ).conflicts(['due', 'new', 'all', 'becauseOf', 'dryRun', 'maxSearches', 'file', 'acceptRoster']),
    )
    .option(
      '--because-of <list>',
      'search now for whom this published list may mean; only for them unless --due says more',
    )
    .addOption(
      // A file is stored when it is read, and a preview stores nothing.
      new Option(
        '--dry-run',
        'print the plan (who and why, searches, cost, whom the budget leaves out) and search for nobody',
      ).conflicts('file'),
    )
    .option('--max-searches <count>', 'stop after so many searches', parseWholeNumber(1))
    .option('--file <file>', 'import this roster file first')
    .option('--roster <name>', 'which roster');
  addAcceptOption(command)
    .addHelpText(
      'after',
      examples([
        'screen --due --dry-run',
        'screen --new --max-searches 500',
        'screen --all --roster retail',
        'screen --because-of sdn.csv --dry-run',
        'screen --dirty',
      ]),
    )
    .action((options: ScreenOptions) =>
      act(async (invocation) => {
        const { runScreening } = await import('../../runs/screening-run.js');
        const { maxSearches, becauseOf: listFile } = options;
        const { readPublishedList } = await import('../../lists/published-list.js');
        const list = listFile === undefined ? undefined : await readPublishedList(resolve(invocation.folder, listFile));
        return withWorkplace(invocation, {
          isLasting: true,
          needsDatabase: options.dryRun === true && options.file === undefined,
          prepare: (config) => {
            const choose = (): RosterSettings => chooseStoredRoster(config.settings.rosters, options);
            return options.dryRun ? choose() : requireService(config, choose);
          },
          work: async (workplace, roster) => {
            const selection = toSelection(options);
            const { signal } = invocation;
            if (options.dirty) {
              const { screenMarked } = await import('../../runs/dirty-run.js');
              const summary = await screenMarked(workplace, roster, signal);
              return summary === null
                ? presentNothingMarked(`no marked customer of ${roster.name} is to be searched for now`)
                : presentRun(summary);
            }
            if (options.dryRun) return preview(workplace, roster, selection, list, signal);
            const acceptRoster = await findRosterAcceptance(workplace.database, options);
            const importFirst = options.file !== undefined;
            const plan = { kind: 'screen', roster, selection, importFirst, writeReport: false } as const;
            return present(
              workplace,
              await runScreening(workplace, { ...plan, maxSearches, acceptRoster, becauseOf: list }, signal),
            );
          },
        });
      }),
    );
}
