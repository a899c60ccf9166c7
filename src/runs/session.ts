import type { Client } from '../client/client.js';
import type { HeldBy } from '../errors.js';
import { ConfigError, LeaseLostError, RosterError, RosterHeldError, usageError } from '../errors.js';
import { countNoun } from '../reports/text.js';
import { type Database, DatabaseError, type Queryable, type Transaction } from '../store/database/database.js';
import {
  assertLease,
  describeHolder,
  findHolder,
  type Lease,
  type LeaseHolder,
  releaseLease,
  renewLease,
  waitForLease,
} from '../store/database/leases.js';
import { dropSweptPages } from '../store/dossiers/dossiers.js';
import { countReportedUnapplied, countUnproven, isControlled, noteUnproven } from '../store/night/apply-answers.js';
import { readListComparison } from '../store/night/checks.js';
import { endChunks } from '../store/night/chunks.js';
import { saveRunHold } from '../store/night/held-runs.js';
import { markInFlightUnknown, RunNumbers } from '../store/night/ledger.js';
import { computeRunSums, countFound } from '../store/night/run-sums.js';
import {
  type Account,
  ensureOrganisation,
  type KnownOrganisation,
  type Organisation,
  readOrganisation,
} from '../store/organisations.js';
import { saveRosterAcceptance } from '../store/roster/imports.js';
import { clearStaging } from '../store/roster/staging.js';
import {
  closeRun,
  findOpenRun,
  insertRun,
  isTooLargeToAddUp,
  noteRunKey,
  type RunRow,
  readWorkerNumber,
  takeOverRun,
  toRunId,
} from '../store/runs.js';
import type { HaltCode, PlanSelection, RunKind, RunMode } from '../vocabulary.js';
import type { AppContext, RunEvent } from './app-context.js';
import { OtherAccount, RunHalted } from './halt.js';
import { writePackAtEnd, writePacks } from './packs.js';
import { applyLeft, applyRun } from './screening/apply-run.js';
import { describeHeldAnswers } from './screening/hold-run.js';
import { type Acceptance, toAcceptanceFacts, toStoredSettings } from './settings-diff.js';

/** A run in progress with its lease. */
export interface RunSession extends HeldLease {
  app: AppContext;
  organisation: Organisation;
  run: RunRow;
  runId: string;
  /** The numbers of this process's batches and calls. */
  numbers: RunNumbers;
  /** The roster's name; null for a sweep. */
  roster: string | null;
  /** A transaction of this run; throws LeaseLostError and writes nothing after another process took the run over. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** Whether an open run may be resumed. */
export interface ResumeVerdict {
  /** Why it cannot be resumed instead of the request, or null. */
  blocker: string | null;
  /** Changes that do not block the resume. */
  differences: readonly string[];
  /** The guards that a person overrode so that it continues. */
  overridden?: { acceptance: Acceptance; heldBy: readonly Pick<HeldBy, 'guard' | 'message'>[] } | undefined;
}

export interface RunRequest {
  organisation: Organisation;
  kind: RunKind;
  mode: RunMode;
  /** The roster and its name for events; absent for a run without one. */
  rosterId?: number;
  roster?: string;
  selection?: PlanSelection;
  /** The file given with the command instead of the configured source; undefined to use the file of the open run. */
  rosterFile?: string | null | undefined;
  /** Decides whether an open run is resumed; without it none is. */
  findBlocker?: (open: RunRow) => Promise<ResumeVerdict>;
  /** Resumes only the open run of this number. */
  resumeOnly?: number | undefined;
  /** The record of the accepted settings; undefined when none apply. */
  settingsId?: number | undefined;
}

/** Finds or creates the organisation of the settings. */
export function openOrganisation(app: AppContext): Promise<KnownOrganisation> {
  return ensureOrganisation(app.database, app.settings.organisation, app.clock.now());
}

/** The same with its key, for the runs that store answers. */
export async function openKeyedOrganisation(app: AppContext): Promise<Organisation> {
  const { name } = await openOrganisation(app);
  return readOrganisation(app.database, name);
}

/** Does `work` under the lease; throws RunLockedError with the holder when another process holds it, and as `underLease` does. */
export async function withLease<T>(
  app: AppContext,
  leaseKey: string,
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const lease = await takeLease(app, leaseKey, signal);
  return underLease(app.database, lease, signal, work);
}

/** Takes the lease as `waitForLease` does, and warns of a holder that is waited for. */
export function takeLease(
  { database, clock, owner, emit }: AppContext,
  key: string,
  signal: AbortSignal,
): Promise<Lease> {
  const onWait = (holder: LeaseHolder, atMostMs: number): void => {
    const message = `${key} is held by ${describeHolder(holder)}; without a sign of life it is taken over in ${Math.ceil(atMostMs / 1_000)} s`;
    emit({ kind: 'warning', runId: null, code: 'lease_wait', message });
  };
  return waitForLease(database, clock, { key, owner, ttlMs: leaseTtlMs, signal, onWait });
}

/**
 * Does `work` as a run under its lease: resumes the open run or starts a new one. A new run refused by ConfigError or RosterError is closed
 * as `refused`; after other errors the run can be resumed. `findRequest` is called again when the key belongs to another account than the
 * open run. After a database crash during a commit everything restarts under a new lease. Throws as `withLease` does.
 */
export async function withLeasedRun<T>(
  app: AppContext,
  leaseKey: string,
  signal: AbortSignal,
  findRequest: (held: HeldLease, other: Account | null) => Promise<RunRequest>,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  const { database } = app;
  let kept: KeptLease | null = null;
  let other: Account | null = null;
  for (;;) {
    try {
      kept ??= keepLease(database, await takeLease(app, leaseKey, signal), signal);
      const result = await withRun(app, kept, await findRequest(kept, other), work);
      await kept.release();
      return result;
    } catch (error) {
      if (error instanceof OtherAccount) {
        other = error.account;
        continue;
      }
      const named = kept ? await leaveLease(database, kept, error) : error;
      const isUndecided = named instanceof DatabaseError && named.code === 'commit_undecided';
      if (!isUndecided || signal.aborted) throw named;
      [kept, other] = [null, null];
      const message = `the database server crashed during a commit, whose outcome is unknown; ${leaseKey} continues from the stored state`;
      app.emit({ kind: 'warning', runId: null, code: 'commit_undecided', message });
    }
  }
}

/** Does `work` as a run under a lease that the caller holds, between the packs of the runs before and its own. */
export async function withRun<T>(
  app: AppContext,
  held: HeldLease,
  request: RunRequest,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  await writePacks(app);
  const session = await openSession(app, held, request);
  const result = await work(session).catch((error: unknown) => closeFailed(session, error));
  await writePackAtEnd(app, held.signal);
  return result;
}

async function openSession(app: AppContext, held: HeldLease, request: RunRequest): Promise<RunSession> {
  const { lease, signal } = held;
  const watch = watchWrites(app.emit);
  const write: RunSession['write'] = (work) =>
    watch(
      app.database.transaction(async (transaction) => {
        // Sent together with the first statements of the work: they count only where the lease holds.
        const [, result] = await Promise.all([assertLease(transaction, lease), work(transaction)]);
        return result;
      }),
    );
  const run = await openRun(app, lease, request, write);
  const { organisation, roster = null } = request;
  const runId = toRunId(run);
  const resumed = run.resumed > 0;
  const found = resumed && { found: await countFound(app.database, run.runId) };
  app.emit({ kind: 'run_started', runId, runKind: run.kind, roster, resumed, ...found });
  const numbers = new RunNumbers({ ...run, worker: await readWorkerNumber(app.database, run.runId, app.owner) });
  return { lease, signal, app, organisation, roster, run, runId, numbers, write };
}

/** Closes a failed run according to the error, and throws the error. */
async function closeFailed(session: RunSession, error: unknown): Promise<never> {
  if (error instanceof ConfigError || error instanceof RosterError) {
    const state = session.run.resumed > 0 ? 'stopped' : 'refused';
    // When the database fails as well, the first error matters more.
    const reasons = error instanceof RosterHeldError ? error.lines : [error.message];
    await close(session, state, reasons).catch((failure: unknown) => {
      if (!(failure instanceof DatabaseError)) throw failure;
    });
  } else if (isStopRequest(session.signal, error)) {
    await close(session, 'stopped', ['stopped on request before its first search; the run can be resumed'], 'signal');
  } else if (error instanceof RunHalted) {
    await close(session, 'stopped', [error.message], error.code);
  } else if (error instanceof OtherAccount) {
    await close(session, 'stopped', [error.message], 'account');
  }
  if (!(error instanceof DatabaseError)) await writePackAtEnd(session.app, session.signal);
  throw error;
}

/** Whether a stop request, and not a lost lease or another error, ended the run. */
const isStopRequest = (signal: AbortSignal, error: unknown): boolean =>
  signal.aborted && error === signal.reason && !(error instanceof LeaseLostError);

async function close(
  session: RunSession,
  state: 'stopped' | 'refused',
  reasons: readonly string[],
  haltedBy: HaltCode | null = null,
): Promise<void> {
  const { run, app } = session;
  await session.write(async (transaction) => {
    // The sums of a large run are computed at its resume: the stopped process has eight seconds.
    const isAddedUp = state === 'stopped' && run.kind !== 'sweep' && !(await isTooLargeToAddUp(transaction, run.runId));
    const sums = isAddedUp ? await computeRunSums(transaction, run.runId) : null;
    const end = { state, stateReasons: reasons, haltedBy, stage: null, finishedAt: app.clock.now(), sums };
    await closeRun(transaction, run.runId, end);
    // A restarted import reads everything again.
    if (run.rosterId !== null) await clearStaging(transaction, run.runId);
  });
  app.emit({ kind: 'run_finished', runId: session.runId, runKind: run.kind, state, reasons });
}

async function openRun(
  app: AppContext,
  lease: Lease,
  request: RunRequest,
  write: RunSession['write'],
): Promise<RunRow> {
  const { database, clock, owner } = app;
  const open = await findOpenRun(database, lease.key);
  const { blocker, differences, overridden } =
    open && request.findBlocker ? await request.findBlocker(open) : restarted;
  if (request.resumeOnly !== undefined && (open?.runId !== request.resumeOnly || blocker)) {
    const message =
      open && blocker ? `it cannot be resumed: ${blocker}` : 'a later run of the same roster has replaced it';
    throw usageError('run', `${message}; start a new run instead`);
  }
  if (open && !blocker) warnOfDifferences(app, open, request.roster ?? null, differences);
  return write(async (transaction) => {
    const holder = { epoch: lease.epoch, owner, takenAt: clock.now(), differences };
    if (open && !blocker) {
      await endChunks(transaction, open.runId);
      await markInFlightUnknown(transaction, open.runId);
      await noteOverridden(app, transaction, open.runId, overridden);
      await applyLeft(transaction, { app, run: open });
      return takeOverRun(transaction, open.runId, holder, request);
    }
    if (open && blocker) await abandon(app, transaction, { open, roster: request.roster ?? null }, blocker);
    return insertRun(transaction, {
      organisationId: request.organisation.organisationId,
      rosterId: request.rosterId ?? null,
      mode: request.mode,
      kind: request.kind,
      selection: request.selection ?? null,
      rosterFile: request.rosterFile ?? null,
      leaseKey: lease.key,
      epoch: lease.epoch,
      owner,
      settingsDigest: app.settingsDigest,
      settings: toStoredSettings(app.settings),
      settingsId: request.settingsId,
      version: app.version,
      startedAt: holder.takenAt,
    });
  });
}

const restarted: ResumeVerdict = {
  blocker: 'this kind of run always starts again from the beginning',
  differences: [],
};

/** Stores with a resumed run who accepted its edited roster. */
async function noteOverridden(
  { clock }: AppContext,
  transaction: Queryable,
  runId: number,
  overridden: ResumeVerdict['overridden'],
): Promise<void> {
  if (overridden === undefined) return;
  const { acceptance, heldBy } = overridden;
  await saveRosterAcceptance(transaction, runId, toAcceptanceFacts(acceptance, heldBy, clock.now()));
}

/** Warns of the differences before the run continues. */
function warnOfDifferences(
  { emit }: AppContext,
  open: RunRow,
  roster: string | null,
  differences: readonly string[],
): void {
  if (differences.length === 0) return;
  const runId = toRunId(open);
  const message = `${runId} continues, with differences since its start: ${differences.join('; ')}`;
  emit({ kind: 'warning', runId, roster, code: 'resumed_with_differences', message });
}

/**
 * Closes a run that is not resumed, and applies its proven answers. Those after its last passed control searches can no longer be proven. When
 * the run would have been held, it is.
 */
async function abandon(
  app: AppContext,
  transaction: Transaction,
  { open, roster }: { open: RunRow; roster: string | null },
  blocker: string,
): Promise<void> {
  // What workers still save would be applied by halves.
  await endChunks(transaction, open.runId);
  await markInFlightUnknown(transaction, open.runId);
  const list = await readListComparison(transaction, open.runId);
  const isCompared = list === null || list.comparedAt !== null;
  const isProvable = await isControlled(transaction, open.runId);
  const unproven = isProvable ? await countUnproven(transaction, open.runId) : null;
  if (isProvable) await noteUnproven(transaction, open.runId, 'not_confirmed');
  const { hold } = await applyRun(transaction, { app, run: open }, 'abandoned');
  const reported = await countReportedUnapplied(transaction, open.runId);
  const message = [
    `${toRunId(open)} is not resumed: ${blocker}`,
    isCompared ? 'its remaining customers are planned again' : `its customers were not compared with ${list.file}`,
    ...(unproven !== null && unproven.customers > 0
      ? [
          `its answers for ${countNoun(unproven.customers, 'customer')} do not count, because no control search followed them`,
        ]
      : []),
    ...(hold ? [describeHeldAnswers(hold, toRunId(open))] : []),
    ...(reported > 0 ? [`${countNoun(reported, 'change')} that it reported early did not hold`] : []),
  ].join('; ');
  app.emit({ kind: 'warning', runId: toRunId(open), roster, code: 'run_abandoned', message });
  await clearStaging(transaction, open.runId);
  await dropSweptPages(transaction, open.runId);
  const isPlanned = open.stage === 'planned' || open.stage === 'screened';
  await closeRun(transaction, open.runId, {
    state: 'abandoned',
    stateReasons: [message],
    stage: null,
    finishedAt: open.finishedAt ?? app.clock.now(),
    sums: isPlanned ? await computeRunSums(transaction, open.runId) : open.sums,
  });
  if (hold) await saveRunHold(transaction, open, { kind: 'answers', ...hold, heldAt: app.clock.now() });
}

const slowMs = 2_000;

/** Emits an event when a write takes longer than two seconds, and when no slow write remains. */
function watchWrites(emit: (event: RunEvent) => void): <T>(write: Promise<T>) => Promise<T> {
  let slow = 0;
  const change = (by: number): void => {
    const wasSlow = slow > 0;
    slow += by;
    if (wasSlow !== slow > 0) emit({ kind: 'database_wait', isWaiting: slow > 0 });
  };
  return async (write) => {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      change(1);
    }, slowMs);
    try {
      return await write;
    } finally {
      clearTimeout(timer);
      if (isSlow) change(-1);
    }
  };
}

/** A lease that is kept alive; `signal` is aborted by a stop request, or with LeaseLostError. */
export interface HeldLease {
  lease: Lease;
  signal: AbortSignal;
}

/**
 * Does `work` while keeping a lease alive, then releases it. Throws LeaseLostError with the new owner when the work failed because another
 * process took the lease over, also when the work itself only saw its connection end.
 */
export async function underLease<T>(
  database: Database,
  lease: Lease,
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const kept = keepLease(database, lease, signal);
  try {
    const result = await work(kept);
    await kept.release();
    return result;
  } catch (error) {
    throw await leaveLease(database, kept, error);
  }
}

/** Releases the lease of failed work; returns the error that explains the failure. */
async function leaveLease(database: Database, kept: KeptLease, error: unknown): Promise<unknown> {
  const named = await nameNewOwner(database, kept.lease, error);
  // An unreleased lease expires; the first error matters more.
  await kept.release().catch(() => undefined);
  return named;
}

// After a sleep of the process, ended connections are detected one by one.
const mostLooks = 5;

async function nameNewOwner(database: Database, lease: Lease, error: unknown): Promise<unknown> {
  if (!(error instanceof DatabaseError || error instanceof LeaseLostError)) return error;
  for (let looks = 0; looks < mostLooks; looks += 1) {
    try {
      const holder = await findHolder(database, lease.key);
      if (holder === null || holder.epoch === lease.epoch) return error;
      const message = `lease ${lease.key} was taken over by ${describeHolder(holder)}, so nothing more is written`;
      return new LeaseLostError(message, { cause: error });
    } catch {
      // The next query uses another connection.
    }
  }
  return error;
}

/** The lifetime of a lease without a heartbeat, by the database's clock: the longest wait for the lease of a dead owner. */
export const leaseTtlMs = 8_000;
const heartbeatMs = 1_000;

interface KeptLease extends HeldLease {
  /** Ends the heartbeat and releases the lease. */
  release(): Promise<void>;
}

/** Renews the lease every second until it is released; `stop` is the signal of a stop request. */
export function keepLease(database: Database, lease: Lease, stop?: AbortSignal): KeptLease {
  const lost = new AbortController();
  let renewal: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    // One failed heartbeat is harmless: the lease lives until it expires, and every write checks it.
    const isOurs = await renewLease(database, lease, leaseTtlMs).catch(() => true);
    if (!isOurs) lost.abort(new LeaseLostError(`lease ${lease.key} was taken over by another process`));
  };
  let isRenewing = false;
  const timer = setInterval(() => {
    // While the database is out of reach, further heartbeats would only queue.
    if (isRenewing) return;
    isRenewing = true;
    renewal = renew().finally(() => {
      isRenewing = false;
    });
  }, heartbeatMs);
  timer.unref();
  return {
    lease,
    signal: stop ? AbortSignal.any([stop, lost.signal]) : lost.signal,
    release: async () => {
      clearInterval(timer);
      await renewal;
      await releaseLease(database, lease);
    },
  };
}

/** Records each key that replaces a refused one during a run. `close` throws an error of the recording. */
export function recordKeys(session: RunSession, client: Client): { close: () => Promise<void> } {
  let noting: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;
  const note = async (fingerprint: string): Promise<void> => {
    await session.write((transaction) => noteRunKey(transaction, session.run.runId, fingerprint));
  };
  const leave = client.listen((event) => {
    if (event.kind !== 'key_renewed') return;
    noting = noting
      .then(() => note(event.fingerprint))
      .catch((error: unknown) => {
        failure ??= { error };
      });
  });
  return {
    close: async () => {
      leave();
      await noting;
      if (failure) throw failure.error;
    },
  };
}
