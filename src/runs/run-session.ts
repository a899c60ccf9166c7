import { ConfigError, RosterError } from '../errors.js';
import type { RunKind, RunState } from '../reports/run-facts.js';
import type { Queryable } from '../store/database.js';
import { assertLease, type Lease, waitForLease } from '../store/leases.js';
import { ensureOrganisation, type Organisation } from '../store/organisations.js';
import { toRunId } from '../store/run-id.js';
import { closeRun, findOpenRun, insertRun, type RunRow, takeOverRun } from '../store/runs.js';
import { markInFlightUnknown } from '../store/search-attempts.js';
import { keepLease, leaseTtlMs } from './keep-lease.js';
import type { Workplace } from './workplace.js';

const resumableForMs = 24 * 60 * 60 * 1_000;

/** A run in progress: who writes it, under which lease. */
export interface RunSession {
  workplace: Workplace;
  organisation: Organisation;
  run: RunRow;
  runId: string;
  lease: Lease;
  /** Aborted when somebody asks to stop, or with LeaseLostError. */
  signal: AbortSignal;
  /** A transaction of this run; throws LeaseLostError, with nothing written, when another process has taken the run over. */
  write<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
}

/** What is to be run. */
export interface RunRequest {
  kind: RunKind;
  rosterId: number | null;
  /** The roster's name, for whoever listens. */
  roster: string | null;
  leaseKey: string;
}

/** Finds or creates the organisation of the settings. */
export function openOrganisation(workplace: Workplace): Promise<Organisation> {
  return ensureOrganisation(workplace.database, workplace.settings.organisation, workplace.clock.now());
}

/**
 * Does `work` as a run under its lease: resumes the open run of the same kind or begins a new one. A run refused by ConfigError or
 * RosterError is closed as `refused`; any other error leaves it resumable. Throws RunLockedError naming the holder when it is held.
 */
export async function withRun<T>(
  workplace: Workplace,
  organisation: Organisation,
  request: RunRequest,
  signal: AbortSignal,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  const { database, clock, owner } = workplace;
  const lease = await waitForLease(database, clock, request.leaseKey, owner, leaseTtlMs);
  const kept = keepLease(database, lease);
  try {
    const run = await openRun(workplace, organisation, request, lease);
    const session: RunSession = {
      workplace,
      organisation,
      run,
      runId: toRunId(run),
      lease,
      signal: AbortSignal.any([signal, kept.signal]),
      write: (work) =>
        database.transaction(async (transaction) => {
          await assertLease(transaction, lease);
          return work(transaction);
        }),
    };
    workplace.tell({
      kind: 'run_started',
      runId: session.runId,
      runKind: run.kind,
      roster: request.roster,
      resumed: run.resumed > 0,
    });
    return await refuseOnBadInput(session, work);
  } finally {
    await kept.release();
  }
}

async function refuseOnBadInput<T>(session: RunSession, work: (session: RunSession) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } catch (error) {
    if (error instanceof ConfigError || error instanceof RosterError) {
      await closeAs(session, 'refused', error.message);
    }
    throw error;
  }
}

async function closeAs(session: RunSession, state: RunState, reason: string): Promise<void> {
  const finishedAt = session.workplace.clock.now();
  await session.write((transaction) =>
    closeRun(transaction, session.run.runId, { state, stateReasons: [reason], stage: null, finishedAt, sums: null }),
  );
}

async function openRun(
  workplace: Workplace,
  organisation: Organisation,
  request: RunRequest,
  lease: Lease,
): Promise<RunRow> {
  const { database, clock, owner } = workplace;
  const now = clock.now();
  const open = await findOpenRun(database, request.leaseKey);
  const obstacle = open && findObstacle(open, request.kind, workplace.settingsDigest, now);
  return database.transaction(async (transaction) => {
    await assertLease(transaction, lease);
    if (open && !obstacle) {
      await markInFlightUnknown(transaction, open.runId);
      return takeOverRun(transaction, open.runId, lease.epoch, owner);
    }
    if (open && obstacle) {
      const message = `${toRunId(open)} is not resumed: ${obstacle}; what it left is planned anew`;
      workplace.tell({ kind: 'warning', runId: toRunId(open), code: 'run_abandoned', message });
      await closeRun(transaction, open.runId, {
        state: 'abandoned',
        stateReasons: [message],
        stage: null,
        finishedAt: now,
        sums: open.sums,
      });
    }
    return insertRun(transaction, {
      organisationId: organisation.organisationId,
      rosterId: request.rosterId,
      kind: request.kind,
      leaseKey: request.leaseKey,
      epoch: lease.epoch,
      owner,
      settingsDigest: workplace.settingsDigest,
      version: workplace.version,
      startedAt: now,
    });
  });
}

function findObstacle(open: RunRow, kind: RunKind, settingsDigest: string, now: Date): string | null {
  if (open.kind !== kind) return `it was a run of kind ${open.kind}`;
  if (open.kind === 'sweep' || open.kind === 'import') return 'it starts afresh each time';
  if (open.settingsDigest !== settingsDigest) return 'the settings have changed since';
  if (now.getTime() - open.startedAt.getTime() > resumableForMs) return 'it is older than a day';
  return null;
}
