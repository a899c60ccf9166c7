import {
  AuthenticationError,
  NightscreenError,
  NotStartedError,
  PaymentRequiredError,
  PermissionError,
} from '../src/errors.js';
import type { RosterSettings } from '../src/roster/settings.js';
import type { Acceptance } from '../src/runs/accepting/acceptance.js';
import type { Job, JobResult } from '../src/runs/job.js';
import type { RunSummary } from '../src/runs/session/run-summary.js';
import type { Workplace } from '../src/runs/workplace.js';

/** What became of each roster: a summary, or the error that kept it from having one. */
export interface Night {
  summaries: RunSummary[];
  failures: { roster: string; error: unknown }[];
}

/** Whether the account itself is refused, so that no other roster is begun. */
export const endsTheNight = (error: unknown): boolean =>
  error instanceof AuthenticationError || error instanceof PaymentRequiredError || error instanceof PermissionError;

/**
 * Imports, screens and reports one roster after the other; a roster that fails leaves the others alone unless the account itself is refused.
 * Those that are not begun because a run had to stop are mailed as not run, unless somebody asked to stop.
 */
export async function rescreenRosters(
  workplace: Workplace,
  rosters: readonly RosterSettings[],
  signal: AbortSignal,
  options: { acceptRoster?: Acceptance | undefined } = {},
): Promise<Night> {
  const { runScreening } = await import('../src/runs/screening-run.js');
  const { tellFailure } = await import('../src/runs/mailing/queue-failure.js');
  const night: Night = { summaries: [], failures: [] };
  let begun = 0;
  for (const roster of rosters) {
    if (signal.aborted && begun > 0) break;
    begun += 1;
    try {
      const plan = { kind: 'rescreen', selection: 'due', importFirst: true, writeReport: true } as const;
      const summary = await runScreening(workplace, { ...plan, ...options, roster }, signal);
      night.summaries.push(summary);
      if (summary.state === 'stopped') break;
    } catch (error) {
      night.failures.push({ roster: roster.name, error });
      await tellFailure(workplace, { task: 'rescreen', roster: roster.name, error, signal });
      if (endsTheNight(error)) break;
    }
  }
  const [before] = rosters.slice(begun - 1);
  for (const { name } of signal.aborted ? [] : rosters.slice(begun)) {
    const message = `it was not begun, because the night stopped at the roster ${before?.name ?? 'before it'}; once that is mended: nightscreen rescreen`;
    await tellFailure(workplace, { task: 'rescreen', roster: name, error: new NotStartedError(message), signal });
  }
  return night;
}

/** A night in which a roster has no run; its first error is the cause. */
export class NightError extends NightscreenError {
  readonly night: Night;

  constructor(night: Night) {
    const names = night.failures.map((failure) => failure.roster).join(', ');
    super('job_failed', `no run could be made for: ${names}`, { cause: night.failures[0]?.error });
    this.night = night;
  }
}

/** What a night has done; throws NightError when a roster has no run. */
function requireWholeNight(night: Night): JobResult {
  if (night.failures.length > 0) throw new NightError(night);
  return { runs: night.summaries };
}

/** The nightly whole for every configured roster. */
export const rescreenJob: Job = {
  name: 'rescreen',
  defaultSchedule: { cron: '0 2 * * *', timezone: 'UTC' },
  run: async (workplace, signal) => {
    const { rosters } = workplace.settings;
    if (rosters.length === 0) return { runs: [], exitCode: 3, note: 'no roster is configured, so nobody was screened' };
    return requireWholeNight(await rescreenRosters(workplace, rosters, signal));
  },
};
