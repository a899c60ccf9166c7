import {
  AuthenticationError,
  NightscreenError,
  NotStartedError,
  PaymentRequiredError,
  PermissionError,
} from '../src/errors.js';
import type { RosterSettings } from '../src/roster/settings.js';
import { type AppContext, type Job, watchRun } from '../src/runs/app-context.js';
import type { RunSummary } from '../src/runs/run-summary.js';
import type { Acceptance } from '../src/runs/settings-diff.js';

/** The result of each roster: a summary, or an error with the run that was started. A roster that was not started has a NotStartedError. */
interface NightJob {
  summaries: RunSummary[];
  failures: { roster: string; runId: string | null; error: unknown }[];
}

/** Whether the service refuses the account itself: then no other roster can be screened. */
const endsTheNight = (error: unknown): boolean =>
  error instanceof AuthenticationError || error instanceof PaymentRequiredError || error instanceof PermissionError;

/**
 * Imports, screens and reports one roster after the other. After a failed roster the others go on, unless the service refuses the account.
 * Rosters that are not started because a run stopped are failures too; they are mailed as not run, unless a person stopped the night.
 */
export async function rescreenRosters(
  app: AppContext,
  rosters: readonly RosterSettings[],
  signal: AbortSignal,
  options: { acceptRoster?: Acceptance | undefined } = {},
): Promise<NightJob> {
  const { runScreening } = await import('../src/runs/screening-run.js');
  const { describeFailure, mailFailure } = await import('../src/runs/mail/failures.js');
  const night: NightJob = { summaries: [], failures: [] };
  const fail = async (failure: NightJob['failures'][number], isMailed: boolean): Promise<void> => {
    const { roster, runId, error } = failure;
    const failed = { task: 'rescreen', roster, error, signal };
    const code = error instanceof NightscreenError ? error.code : 'unexpected';
    night.failures.push(failure);
    app.emit({ kind: 'roster_failed', roster, runId, code, message: describeFailure(failed).reason, error });
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
    const message = `it was not started, because the night stopped at the roster ${before?.name ?? 'before it'}. Correct that, then: nightscreen rescreen`;
    await fail({ roster: name, runId: null, error: new NotStartedError(message) }, !signal.aborted);
  }
  return night;
}

/** A night in which at least one roster has no run; the first error is the cause. */
export class NightError extends NightscreenError {
  readonly night: NightJob;

  constructor(night: NightJob) {
    const names = night.failures.map((failure) => failure.roster).join(', ');
    super('job_failed', `these rosters have no run: ${names}`, { cause: night.failures[0]?.error });
    this.night = night;
  }

  /** Whether the service refused the account itself. */
  get isAccountRefused(): boolean {
    return this.night.failures.some(({ error }) => endsTheNight(error));
  }
}

/** Imports, screens and reports every configured roster; throws NightError when a roster has no run. */
export const rescreenJob: Job = {
  name: 'rescreen',
  defaultCron: '0 2 * * *',
  run: async (app, signal) => {
    const { rosters } = app.settings;
    if (rosters.length === 0)
      return { runs: [], exitCode: 3, note: 'no roster is configured, so no customer was screened' };
    const night = await rescreenRosters(app, rosters, signal);
    if (night.failures.length > 0) throw new NightError(night);
    return { runs: night.summaries };
  },
};
