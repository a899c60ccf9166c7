import { LeaseLostError, RunLockedError } from '../../errors.js';
import {
  beginJobRun,
  endJobRun,
  findJobRun,
  forgetJobRuns,
  type JobDue,
  type JobEnding,
  type JobRun,
} from '../../store/job-runs.js';
import { assertLease, type Lease, waitForLease } from '../../store/leases.js';
import { leaseTtlMs } from '../session/keep-lease.js';
import { openOrganisation } from '../session/run-session.js';
import { type HeldLease, underLease } from '../session/under-lease.js';
import type { Workplace } from '../workplace.js';
import { type JobLimits, limitJob } from './limit-job.js';

/** One time of a job that is to be run; `again` names the exit codes after which it is run although it has finished. */
export interface OccasionRequest {
  job: string;
  due: JobDue;
  isLate: boolean;
  again: readonly number[];
  /** Of a job that runs too often for every time to be kept: what ended well before this is forgotten. */
  forgetBefore: Date | null;
  limits: JobLimits;
}

/** How the work of a job ended, as it is noted; without an exit code it was interrupted and is taken up again. */
export type OccasionEnding = Omit<JobEnding, 'endedAt'>;

/** What became of the request: `held` by a process that is alive, `done` before, or `ended` by this one; `hanging` settles when code that ignored its signal ends. */
export type OccasionAnswer =
  | { kind: 'held'; holder: string }
  | { kind: 'done'; run: JobRun }
  | { kind: 'ended'; run: JobRun; ending: OccasionEnding; hanging: Promise<void> | null };

/** The lease that whoever runs a job holds. */
export const toJobLeaseKey = (organisation: string, job: string): string => `job/${organisation}/${job}`;

const forgottenAfterMs = 7 * 86_400_000;

/** Since when the times of a job that comes round all the time are kept. */
export const toForgetBefore = (now: Date): Date => new Date(now.getTime() - forgottenAfterMs);

/**
 * Does the work of one time at which a job is due, once: under the lease of the job, noted before it begins and when it has ended. Throws
 * LeaseLostError when another process has taken it over, and DatabaseError when the database goes away: it is taken up again then.
 */
export async function runOccasion(
  workplace: Workplace,
  request: OccasionRequest,
  signal: AbortSignal,
  work: (run: JobRun, signal: AbortSignal) => Promise<OccasionEnding>,
): Promise<OccasionAnswer> {
  const { database, clock } = workplace;
  const { job, due, isLate, again, limits } = request;
  const organisation = await openOrganisation(workplace);
  const { organisationId } = organisation;
  const lease = await takeLease(workplace, toJobLeaseKey(organisation.name, job), signal);
  if ('holder' in lease) return { kind: 'held', holder: lease.holder };
  return underLease(database, lease.acquired, signal, async (held): Promise<OccasionAnswer> => {
    const beginning = {
      job,
      ...due,
      owner: workplace.owner,
      now: clock.now(),
      isLate,
      again,
      timeoutMs: limits.timeoutMs,
    };
    const run = await database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      if (request.forgetBefore) await forgetJobRuns(transaction, organisationId, job, request.forgetBefore);
      return beginJobRun(transaction, organisationId, beginning);
    });
    if (run === null) return { kind: 'done', run: await requireRun(workplace, organisationId, request) };
    const { ending, hanging } = await limitJob(workplace, { organisationId, run, limits }, held.signal, (limited) =>
      work(run, limited),
    );
    await note(workplace, held, run, ending);
    return { kind: 'ended', run, ending, hanging };
  });
}

async function takeLease(
  { database, clock, owner }: Workplace,
  key: string,
  signal: AbortSignal,
): Promise<{ acquired: Lease } | { holder: string }> {
  try {
    return { acquired: await waitForLease(database, clock, key, owner, leaseTtlMs, signal) };
  } catch (error) {
    if (error instanceof RunLockedError) return { holder: error.holder };
    throw error;
  }
}

async function requireRun(
  { database }: Workplace,
  organisationId: number,
  { job, due }: OccasionRequest,
): Promise<JobRun> {
  const run = await findJobRun(database, organisationId, job, due.occasion);
  if (run) return run;
  throw new LeaseLostError(`${job} of ${due.occasion} was begun by another process`);
}

async function note(
  { database, clock }: Workplace,
  { lease }: HeldLease,
  { jobRunId }: JobRun,
  ending: OccasionEnding,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await assertLease(transaction, lease);
    await endJobRun(transaction, jobRunId, { ...ending, endedAt: clock.now() });
  });
}
