import type { Command } from 'commander';
import { rescreenRosters } from '../../../jobs/rescreen.js';
import type { Act } from '../invocation.js';
import {
  addAcceptOption,
  chooseRosters,
  examples,
  findRosterAcceptance,
  type RosterAcceptance,
  type RosterChoice,
} from '../options.js';
import { presentNight } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';

/** Adds `rescreen`. */
export function addRescreenCommand(program: Command, act: Act): void {
  const command = program
    .command('rescreen')
    .description('the nightly whole: import each roster, screen who is due, report')
    .option('--file <file>', 'roster file in place of the configured ones')
    .option('--roster <name>', 'only this roster (default: every configured one)');
  addAcceptOption(command)
    .addHelpText('after', examples(['rescreen', 'rescreen --roster retail --json']))
    .action((choice: RosterChoice & RosterAcceptance) =>
      act(
        (invocation) =>
          withWorkplace(invocation, {
            isLasting: true,
            prepare: (config) =>
              requireService(config, () => chooseRosters(config.settings.rosters, choice), { writesReport: true }),
            work: async (workplace, rosters) => {
              const acceptRoster = await findRosterAcceptance(workplace.database, choice);
              return presentNight(await rescreenRosters(workplace, rosters, invocation.signal, { acceptRoster }));
            },
          }),
        'rescreen',
      ),
    );
}
