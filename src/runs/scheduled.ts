import { setTimeout } from 'node:timers/promises';
import { LeaseLostError, NightscreenError, RunLockedError } from '../errors.js';
import { gatherBy } from '../gather-by.js';
import { assertLease, type Lease, toLeaseKey } from '../store/database/leases.js';
import {
  beginJobRun,
  bringSchedulesBack,
  endJobRun,
  findJobRun,
  findSchedulePause,
  type JobDue,
  type JobEnding,
  type JobRun,
  noteMissedJob,
  readJobRuns,
  readJobSchedules,
  type SchedulePause,
  saveJobSchedules,
} from '../store/operations/jobs.js';
import type { AppContext, JobSchedule } from './app-context.js';
import { openOrganisation, takeLease, underLease } from './session.js';

// Enough to find every run of the last days.
const timesKept = 100;

/** Notes the planned jobs with their schedules; `areAll` retires all others. */
export async function keepSchedules(
  app: AppContext,
  planned: readonly { job: string; schedule: JobSchedule }[],
  { areAll }: { areAll: boolean },
): Promise<void> {
  const { organisationId } = await openOrganisation(app);
  const schedules = planned.map(({ job, schedule }) => ({ job, ...schedule }));
  const now = app.clock.now();
  await app.database.transaction((transaction) =>
    saveJobSchedules(transaction, organisationId, schedules, { areAll, now }),
  );
}

/** Lets schedules that a clock ahead has noted count from now on. */
export async function mendSchedules(app: AppContext): Promise<void> {
  const { organisationId } = await openOrganisation(app);
  await bringSchedulesBack(app.database, organisationId, app.clock.now());
}

/** The current pause of the schedule; null without one. */
export async function readPause(app: AppContext): Promise<SchedulePause | null> {
  const { organisationId } = await openOrganisation(app);
  return findSchedulePause(app.database, organisationId, app.clock.now());
}

/**
 * The known facts of all jobs by name, without those that a clock ahead has noted: since when their schedules count, and their last runs, newest
 * first.
 */
export async function readScheduleHistory(app: AppContext) {
  const { database, clock } = app;
  const { organisationId } = await openOrganisation(app);
  const schedules = await readJobSchedules(database, organisationId);
  const runs = await readJobRuns(database, organisationId, timesKept, clock.now());
  return {
    schedules: new Map(schedules.map((schedule) => [schedule.job, schedule])),
    runs: gatherBy(runs, ({ job }) => job),
  };
}

// After years of absence, the last ones are enough.
const mostMissed = 400;

/** Notes the runs of a job that were missed for good, and gives up a run that never ended. */
export async function recordMissed(
  app: AppContext,
  job: string,
  { missed, givenUp }: { missed: readonly JobDue[]; givenUp: JobRun | null },
): Promise<void> {
  if (missed.length === 0 && givenUp === null) return;
  const { organisationId } = await openOrganisation(app);
  const now = app.clock.now();
  await app.database.transaction(async (transaction) => {
    const because = 'no scheduler was there to start it when it was due';
    for (const due of missed.slice(-mostMissed)) {
      await noteMissedJob(transaction, organisationId, job, due, { now, because });
    }
    if (givenUp === null) return;
    const ending = { exitCode: 1, because: `it was begun ${givenUp.attempts} times and never ended` };
    await endJobRun(transaction, givenUp.jobRunId, { ...ending, runIds: [] }, now);
  });
}

/** The lease of the process that runs a job. */
export const toJobLeaseKey = (organisation: string, job: string): string => toLeaseKey('job', organisation, job);

const forgottenAfterMs = 7 * 86_400_000;

/** Older runs of a job that runs all the time are forgotten. */
export const toForgetBefore = (now: Date): Date => new Date(now.getTime() - forgottenAfterMs);

/**
 * Does the work of one due slot of a job, once: under the lease of the job, noted before it begins and when it has ended. Throws LeaseLostError
 * when another process has taken over, and DatabaseError when the database fails; the work is then repeated. `again` lists the exit codes after
 * which a finished slot is run again. Successful runs before `forgetBefore` are forgotten, for a job that runs too often to keep all. Gives
 * whether the slot is `held` by a living process, was `done` before, or was `ended` by this process.
 */
export async function runDueSlot(
  app: AppContext,
  {
    job,
    due,
    isLate,
    again,
    forgetBefore,
    timeoutMs,
  }: {
    job: string;
    due: JobDue;
    isLate: boolean;
    again: readonly number[];
    forgetBefore: Date | null;
    timeoutMs: number;
  },
  signal: AbortSignal,
  work: (run: JobRun, signal: AbortSignal) => Promise<JobEnding>,
) {
  const { database, clock } = app;
  const organisation = await openOrganisation(app);
  const { organisationId } = organisation;
  const lease = await takeFreeLease(app, toJobLeaseKey(organisation.name, job), signal);
  if ('holder' in lease) return { kind: 'held', holder: lease.holder } as const;
  return underLease(database, lease.acquired, signal, async (held) => {
    const attempt = { owner: app.owner, now: clock.now(), timeoutMs, forgetBefore };
    const run = await database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      return beginJobRun(transaction, organisationId, { job, ...due, isLate, again, ...attempt });
    });
    if (run === null) {
      const done = await findJobRun(database, organisationId, job, due.dueSlot);
      if (done) return { kind: 'done', run: done } as const;
      throw new LeaseLostError(`${job} of ${due.dueSlot} was begun by another process`);
    }
    const ending = await limitJob(app, { organisationId, run, timeoutMs }, held.signal, (limited) =>
      work(run, limited),
    );
    await database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      await endJobRun(transaction, run.jobRunId, ending, clock.now());
    });
    return { kind: 'ended', run, ending } as const;
  });
}

async function takeFreeLease(
  app: AppContext,
  key: string,
  signal: AbortSignal,
): Promise<{ acquired: Lease } | { holder: string }> {
  try {
    return { acquired: await takeLease(app, key, signal) };
  } catch (error) {
    if (error instanceof RunLockedError) return { holder: error.holder };
    throw error;
  }
}

const lookForCancelMs = 2_000;

class JobLimitError extends NightscreenError {
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout: boolean) {
    super(isTimeout ? 'job_timeout' : 'job_cancelled', message);
    this.isTimeout = isTimeout;
  }
}

/** Does `work`; its signal is aborted when it exceeds its timeout, is cancelled through the store, or is asked to stop. */
async function limitJob(
  { database, clock }: Pick<AppContext, 'database' | 'clock'>,
  { organisationId, run, timeoutMs }: { organisationId: number; run: JobRun; timeoutMs: number },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<JobEnding>,
): Promise<JobEnding> {
  const limit = new AbortController();
  const done = new AbortController();
  const timeout = async (): Promise<void> => {
    await clock.sleep(timeoutMs, done.signal);
    limit.abort(new JobLimitError(`it exceeded its timeout of ${describeSpan(timeoutMs)}`, true));
  };
  const listenForCancel = async (): Promise<void> => {
    while (!limit.signal.aborted) {
      await setTimeout(lookForCancelMs, undefined, { signal: done.signal, ref: false });
      const found = await findJobRun(database, organisationId, run.job, run.dueSlot).catch(() => null);
      if (found?.cancelledBy) limit.abort(new JobLimitError(`it was cancelled by ${found.cancelledBy}`, false));
    }
  };
  void timeout().catch(() => undefined);
  void listenForCancel().catch(() => undefined);
  try {
    const ended = await work(AbortSignal.any([signal, limit.signal]));
    const reason: unknown = limit.signal.reason;
    return reason instanceof JobLimitError ? toStoppedEnding(reason, ended) : ended;
  } finally {
    done.abort();
  }
}

/** The end of a job that was ended by its timeout or a person; after a timeout it will be continued. */
function toStoppedEnding({ message, isTimeout }: JobLimitError, { exitCode, because, runIds }: JobEnding): JobEnding {
  // The signal came when the work was complete.
  if (exitCode === 0 || exitCode === 3) return { exitCode, because, runIds };
  const said = because === null ? message : `${message}; ${because}`;
  return isTimeout ? { because: said, runIds, isTimedOut: true } : { exitCode: 4, because: said, runIds };
}

function describeSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
