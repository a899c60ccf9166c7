import { rescreenRosters } from '../../../jobs/rescreen.js';
import { definePreparedCommand } from '../command.js';
import { describeError, formatError, isReported } from '../describe-error.js';
import { combineExitCodes, toErrorExitCode } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { acceptOptions, chooseRosters, findRosterAcceptance, shared } from '../options.js';
import { presentRun, toRunDocument } from '../present-run.js';

export const command = definePreparedCommand({
  usage: 'rescreen',
  description: 'the nightly run: import each roster, screen the customers that are due, report',
  options: { file: shared.file, roster: shared.roster, ...acceptOptions },
  examples: ['rescreen', 'rescreen --roster retail --json'],
  mailedAs: () => 'rescreen',
  needs: { service: true, reports: true, createsDatabase: true, isLasting: true },
  prepare: ({ config, options }) => chooseRosters(config.settings.rosters, options),
  run: async (app, { prepared: rosters, options, signal }) => {
    const acceptRoster = await findRosterAcceptance(app.database, options);
    return presentNight(await rescreenRosters(app, rosters, signal, { acceptRoster }));
  },
});

/** The result of a night over several rosters; a single failure is thrown as it is. */
export function presentNight({ summaries, failures }: Awaited<ReturnType<typeof rescreenRosters>>): Outcome {
  const [only, ...others] = summaries;
  if (only && others.length === 0 && failures.length === 0) return presentRun(only);
  const [failure] = failures;
  if (failure && summaries.length === 0 && failures.length === 1) throw failure.error;
  const described = failures.map(({ roster, error }) => ({ roster, error, ...describeError(error) }));
  return toOutcome(
    'nightscreen/run-summaries/1',
    {
      runs: summaries.map(toRunDocument),
      errors: described.map(({ roster, code, message, problems }) => ({ roster, code, message, problems })),
    },
    [
      ...summaries.map((summary) => presentRun(summary).text),
      ...described.map(({ roster, error, ...description }) =>
        isReported(error)
          ? `roster ${roster} failed [${description.code}]: standard error says why\n`
          : `roster ${roster}\n${formatError(description)}`,
      ),
    ].join('\n'),
    combineExitCodes([
      ...summaries.map((summary) => summary.exitCode),
      ...failures.map(({ error }) => toErrorExitCode(error)),
    ]),
  );
}
