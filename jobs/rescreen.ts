import {
  AuthenticationError,
  NightscreenError,
  NotStartedError,
  PaymentRequiredError,
  PermissionError,
} from '../src/errors.js';
import type { RosterSettings } from '../src/roster/settings.js';
import { type AppContext, type Job, type JobResult, watchRun } from '../src/runs/app-context.js';
import type { RunSummary } from '../src/runs/run-summary.js';
import type { Acceptance } from '../src/runs/settings-diff.js';

/** What became of each roster: a summary, or the error that kept it from having one, with the run that was begun; those that were not begun have a NotStartedError. */
export interface Night {
  summaries: RunSummary[];
  failures: { roster: string; runId: string | null; error: unknown }[];
}

/** Whether the account itself is refused, so that no other roster is begun. */
const endsTheNight = (error: unknown): boolean =>
  error instanceof AuthenticationError || error instanceof PaymentRequiredError || error instanceof PermissionError;

/**
 * Imports, screens and reports one roster after the other; a roster that fails leaves the others alone unless the account itself is refused.
 * Those that are not begun because a run had to stop are failures as well, and are mailed as not run, unless somebody asked to stop.
 */
export async function rescreenRosters(
  app: AppContext,
  rosters: readonly RosterSettings[],
  signal: AbortSignal,
  options: { acceptRoster?: Acceptance | undefined } = {},
): Promise<Night> {
  const { runScreening } = await import('../src/runs/screening-run.js');
  const { mailFailure } = await import('../src/runs/mail/failures.js');
  const { describeFailure } = await import('../src/runs/mail/failures.js');
  const night: Night = { summaries: [], failures: [] };
  const fail = async (failure: Night['failures'][number], isMailed: boolean): Promise<void> => {
    const { roster, runId, error } = failure;
    const failed = { task: 'rescreen', roster, error, signal };
    const code = error instanceof NightscreenError ? error.code : 'unexpected';
    night.failures.push(failure);
    app.emit({ kind: 'roster_failed', roster, runId, code, message: describeFailure(failed).reason });
    if (isMailed) await mailFailure(app, failed);
  };
  let begun = 0;
  for (const roster of rosters) {
    if (signal.aborted && begun > 0) break;
    begun += 1;
    const { watched, lastRun } = watchRun(app);
    try {
      const plan = { kind: 'rescreen', selection: 'due', importFirst: true, writeReport: true } as const;
      const summary = await runScreening(watched, { ...plan, ...options, roster }, signal);
      night.summaries.push(summary);
      if (summary.state === 'stopped') break;
    } catch (error) {
      await fail({ roster: roster.name, runId: lastRun.current?.runId ?? null, error }, true);
      if (endsTheNight(error)) break;
    }
  }
  const [before] = rosters.slice(begun - 1);
  for (const { name } of rosters.slice(begun)) {
    const message = `it was not begun, because the night stopped at the roster ${before?.name ?? 'before it'}; once that is mended: nightscreen rescreen`;
    await fail({ roster: name, runId: null, error: new NotStartedError(message) }, !signal.aborted);
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

  /** Whether the account itself was refused, so that other rosters were not begun. */
  get isAccountRefused(): boolean {
    return this.night.failures.some(({ error }) => endsTheNight(error));
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
  timeoutMs: 12 * 3_600_000,
  run: async (app, signal) => {
    const { rosters } = app.settings;
    if (rosters.length === 0) return { runs: [], exitCode: 3, note: 'no roster is configured, so nobody was screened' };
    return requireWholeNight(await rescreenRosters(app, rosters, signal));
  },
};
