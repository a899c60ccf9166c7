import type { Command } from 'commander';
import { rescreenRosters } from '../../../jobs/rescreen.js';
import { describeError, formatError } from '../describe-error.js';
import { combineExitCodes, toErrorExitCode } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import {
  addAcceptOption,
  chooseRosters,
  examples,
  findRosterAcceptance,
  type RosterChoice,
  shared,
} from '../options.js';
import { presentRun } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';

/** Adds `rescreen`. */
export function addRescreenCommand(program: Command, act: Act): void {
  const command = program
    .command('rescreen')
    .summary('the nightly run: import, screen who is due, report')
    .description('the nightly run: import each roster, screen the customers that are due, report')
    .addOption(shared('file', '<file>'))
    .addOption(shared('roster', '<name>'));
  addAcceptOption(command)
    .addHelpText('after', examples(['rescreen', 'rescreen --roster retail --json']))
    .action((choice: RosterChoice) =>
      act((invocation) => {
        const config = loadInvocationConfig(invocation);
        const rosters = requireService(config, () => chooseRosters(config.settings.rosters, choice), {
          writesReport: true,
        });
        return withAppContext(invocation, { config, isLasting: true }, async (app) => {
          const acceptRoster = await findRosterAcceptance(app.database, choice);
          return presentNight(await rescreenRosters(app, rosters, invocation.signal, { acceptRoster }));
        });
      }, 'rescreen'),
    );
}

/** The result of a night over several rosters; a single failure is thrown as it is. */
export function presentNight({ summaries, failures }: Awaited<ReturnType<typeof rescreenRosters>>): Outcome {
  const [only, ...others] = summaries;
  if (only && others.length === 0 && failures.length === 0) return presentRun(only);
  const [failure] = failures;
  if (failure && summaries.length === 0 && failures.length === 1) throw failure.error;
  const described = failures.map(({ roster, error }) => ({ roster, ...describeError(error) }));
  return {
    exitCode: combineExitCodes([
      ...summaries.map((summary) => summary.exitCode),
      ...failures.map(({ error }) => toErrorExitCode(error)),
    ]),
    document: {
      schema: 'nightscreen/run-summaries/1',
      runs: summaries,
      errors: described.map(({ roster, code, message, problems }) => ({ roster, code, message, problems })),
    },
    text: [
      ...summaries.map((summary) => presentRun(summary).text),
      ...described.map((description) => `roster ${description.roster}\n${formatError(description)}`),
    ].join('\n'),
  };
}
