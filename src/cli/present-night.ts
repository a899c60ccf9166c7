import type { Night } from '../../jobs/rescreen.js';
import { describeError, formatError } from './describe-error.js';
import { combineExitCodes, toErrorExitCode } from './exit-code.js';
import type { Outcome } from './invocation.js';
import { formatRun, presentRun } from './present-run.js';

/** What a command says that made a run for each of several rosters; a single failure is thrown as it is. */
export function presentNight({ summaries, failures }: Night): Outcome {
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
      ...summaries.map(formatRun),
      ...described.map((description) => `roster ${description.roster}\n${formatError(description)}`),
    ].join('\n'),
  };
}
