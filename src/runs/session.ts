import type { Client } from '../client/client.js';
import type { HeldBy } from '../errors.js';
import { ConfigError, LeaseLostError, RosterError } from '../errors.js';
import { countNoun } from '../reports/text.js';
import { countCanaries } from '../store/canaries.js';
import { readListComparison } from '../store/checks.js';
import { type Database, DatabaseError, type Queryable, type Transaction } from '../store/database/database.js';
import { dropSweptPages } from '../store/dossiers.js';
import {
  assertLease,
  describeHolder,
  findHolder,
  type Lease,
  releaseLease,
  renewLease,
  waitForLease,
} from '../store/leases.js';
import { markInFlightUnknown } from '../store/ledger.js';
import { type Account, ensureOrganisation, type Organisation } from '../store/organisations.js';
import { saveRosterAcceptance } from '../store/roster-imports.js';
import { clearStaging } from '../store/roster-staging.js';
import { computeRunSums, countFound } from '../store/run-sums.js';
import {
  closeRun,
  findOpenRun,
  insertRun,
  isTooLargeToAddUp,
  noteRunHolder,
  noteRunKey,
  type RunRow,
  takeOverRun,
  toRunId,
} from '../store/runs.js';
import { countReportedAndTakenBack, takeBackAnswers } from '../store/unconfirmed-answers.js';
import type { HaltCode, PlanSelection, RunKind, RunMode } from '../vocabulary.js';
import type { AppContext, RunEvent } from './app-context.js';
import { OtherAccount, RunHalted } from './halt.js';
import { takeBackVanished } from './screening/hold-run.js';
import type { Acceptance } from './settings-diff.js';
import { toAcceptanceFacts, toStoredSettings } from './settings-diff.js';

/** A run in progress: who writes it, under which lease. */
export interface RunSession extends HeldLease {
  app: AppContext;
  organisation: Organisation;
  run: RunRow;
  runId: string;
  /** The roster's name; null for a sweep. */
  roster: string | null;
  /** A transaction of this run; throws LeaseLostError, with nothing written, when another process has taken the run over. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** Whether an open run may be gone on with. */
export interface Comparison {
  /** Why it must not be gone on with in place of what is wanted now, or null. */
  blocker: string | null;
  /** What is no longer as it was and hinders nothing. */
  differences: readonly string[];
  /** Guards that somebody has overridden so that it goes on. */
  overridden?: { acceptance: Acceptance; heldBy: readonly Pick<HeldBy, 'guard' | 'message'>[] } | undefined;
}

/** What is to be run. */
export interface RunRequest {
  organisation: Organisation;
  kind: RunKind;
  rosterId: number | null;
  /** The roster's name, for whoever listens. */
  roster: string | null;
  mode: RunMode;
  selection: PlanSelection | null;
  /** The file that was given with the command in place of the configured source; left out where the open run's own holds. */
  rosterFile?: string | null | undefined;
  /** Says whether an open run may be gone on with, and what differs; without it no open run is. */
  findBlocker?: (open: RunRow) => Promise<Comparison>;
  /** Goes on with the open run of this number or with none. */
  resumeOnly?: number | undefined;
  /** The accepted settings in force; left out for what is judged by none of them. */
  settingsRecordId?: number | undefined;
}

/** Finds or creates the organisation of the settings. */
export function openOrganisation(app: AppContext): Promise<Organisation> {
  return ensureOrganisation(app.database, app.settings.organisation, app.clock.now());
}

/** Does `work` while holding the lease; throws RunLockedError naming the holder when another process holds it, and as `underLease` does. */
export async function withLease<T>(
  app: AppContext,
  leaseKey: string,
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { database, clock, owner } = app;
  const lease = await waitForLease(database, clock, leaseKey, owner, leaseTtlMs, signal);
  return underLease(database, lease, signal, work);
}

/**
 * Does `work` as a run under its lease: goes on with the open run or begins a new one. A new run that ConfigError or RosterError refuses is
 * closed as `refused`; any other error leaves the run resumable. `findRequest` is asked again where the key turns out to be of another
 * account than the open run's, and all starts again, under a new lease, when a database server that crashed left undecided whether a commit
 * took place. Throws as `withLease` does.
 */
export async function withLeasedRun<T>(
  app: AppContext,
  leaseKey: string,
  signal: AbortSignal,
  findRequest: (held: HeldLease, other: Account | null) => Promise<RunRequest>,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  const { database, clock, owner } = app;
  let kept: KeptLease | null = null;
  let other: Account | null = null;
  for (;;) {
    try {
      kept ??= keepLease(database, await waitForLease(database, clock, leaseKey, owner, leaseTtlMs, signal), signal);
      const session = await openSession(app, kept, await findRequest(kept, other));
      const result = await work(session).catch((error: unknown) => closeFailed(session, error));
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
      const message = `${leaseKey} continues from what is stored: the database server crashed during a commit, which may or may not have taken place`;
      app.emit({ kind: 'warning', runId: null, code: 'commit_undecided', message });
    }
  }
}

/** Does `work` as a run under a lease that is held already. */
export async function withRun<T>(
  app: AppContext,
  held: HeldLease,
  request: RunRequest,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  const session = await openSession(app, held, request);
  return work(session).catch((error: unknown) => closeFailed(session, error));
}

async function openSession(app: AppContext, held: HeldLease, request: RunRequest): Promise<RunSession> {
  const { lease, signal } = held;
  const watch = watchWrites(app.emit);
  const write: RunSession['write'] = (work) =>
    watch(
      app.database.transaction(async (transaction) => {
        await assertLease(transaction, lease);
        return work(transaction);
      }),
    );
  const run = await openRun(app, lease, request, write);
  const { organisation, roster } = request;
  const runId = toRunId(run);
  const resumed = run.resumed > 0;
  const found = resumed ? { found: await countFound(app.database, run.runId) } : {};
  app.emit({ kind: 'run_started', runId, runKind: run.kind, roster, resumed, ...found });
  return { lease, signal, app, organisation, roster, run, runId, write };
}

/** Closes a run whose work has failed, as the error asks for, and throws that on. */
async function closeFailed(session: RunSession, error: unknown): Promise<never> {
  if (error instanceof ConfigError || error instanceof RosterError) {
    const state = session.run.resumed > 0 ? 'stopped' : 'refused';
    // Where the database has gone away as well, why the work failed matters more.
    await close(session, state, error.message).catch(passUnlessDatabase);
  } else if (isStopRequest(session.signal, error)) {
    await close(session, 'stopped', 'stopped on request before its first search; the run can be resumed', 'signal');
  } else if (error instanceof RunHalted) {
    await close(session, 'stopped', error.message, error.code);
  } else if (error instanceof OtherAccount) {
    await close(session, 'stopped', error.message, 'account');
  }
  throw error;
}

/** Whether somebody asked to stop, and neither a lost lease nor a fault of ours ended the run. */
const isStopRequest = (signal: AbortSignal, error: unknown): boolean =>
  signal.aborted && error === signal.reason && !(error instanceof LeaseLostError);

function passUnlessDatabase(error: unknown): void {
  if (!(error instanceof DatabaseError)) throw error;
}

async function close(
  session: RunSession,
  state: 'stopped' | 'refused',
  reason: string,
  haltedBy: HaltCode | null = null,
): Promise<void> {
  const { run, app } = session;
  await session.write(async (transaction) => {
    // A large run is added up when it is resumed: its process has eight seconds to end.
    const isAddedUp = state === 'stopped' && run.kind !== 'sweep' && !(await isTooLargeToAddUp(transaction, run.runId));
    const sums = isAddedUp ? await computeRunSums(transaction, run.runId) : null;
    const end = { state, stateReasons: [reason], haltedBy, stage: null, finishedAt: app.clock.now(), sums };
    await closeRun(transaction, run.runId, end);
    // An import that is begun again reads everything again.
    if (run.rosterId !== null) await clearStaging(transaction, run.runId);
  });
  app.emit({ kind: 'run_finished', runId: session.runId, runKind: run.kind, state, reasons: [reason] });
}

async function openRun(
  app: AppContext,
  lease: Lease,
  request: RunRequest,
  write: RunSession['write'],
): Promise<RunRow> {
  const { database, clock, owner } = app;
  const open = await findOpenRun(database, lease.key);
  const { blocker, differences, overridden } = open ? await compare(request, open) : nothingOpen;
  if (request.resumeOnly !== undefined && (open?.runId !== request.resumeOnly || blocker)) {
    const message = blocker ? `it cannot be resumed: ${blocker}` : 'a later run of the same roster has taken its place';
    throw new ConfigError([{ where: 'run', path: '', message: `${message}; start a new run instead` }]);
  }
  if (open && !blocker) warnOfDifferences(app, open, request.roster, differences);
  return write(async (transaction) => {
    const holder = { epoch: lease.epoch, owner, takenAt: clock.now(), differences };
    if (open && !blocker) {
      await markInFlightUnknown(transaction, open.runId);
      await noteRunHolder(transaction, open.runId, holder);
      await noteOverridden(app, transaction, open.runId, overridden);
      return takeOverRun(transaction, open.runId, holder, request);
    }
    if (open && blocker) await abandon(app, transaction, { open, roster: request.roster }, blocker);
    const run = await insertRun(transaction, {
      organisationId: request.organisation.organisationId,
      rosterId: request.rosterId,
      mode: request.mode,
      kind: request.kind,
      selection: request.selection,
      rosterFile: request.rosterFile ?? null,
      leaseKey: lease.key,
      epoch: lease.epoch,
      owner,
      settingsDigest: app.settingsDigest,
      settings: toStoredSettings(app.settings),
      settingsRecordId: request.settingsRecordId,
      version: app.version,
      startedAt: holder.takenAt,
    });
    await noteRunHolder(transaction, run.runId, holder);
    return run;
  });
}

const nothingOpen: Comparison = { blocker: null, differences: [] };

async function compare(request: RunRequest, open: RunRow): Promise<Comparison> {
  if (request.findBlocker) return request.findBlocker(open);
  return { blocker: 'it starts afresh each time', differences: [] };
}

/** Keeps with a run that goes on who accepted that its roster was edited. */
async function noteOverridden(
  { clock }: AppContext,
  transaction: Queryable,
  runId: number,
  overridden: Comparison['overridden'],
): Promise<void> {
  if (overridden === undefined) return;
  const { acceptance, heldBy } = overridden;
  await saveRosterAcceptance(transaction, runId, toAcceptanceFacts(acceptance, heldBy, clock.now()));
}

/** Names what is no longer as it was, before anything is done under it. */
function warnOfDifferences(
  { emit }: AppContext,
  open: RunRow,
  roster: string | null,
  differences: readonly string[],
): void {
  if (differences.length === 0) return;
  const runId = toRunId(open);
  const message = `${runId} goes on, and not all is as it was begun with: ${differences.join('; ')}`;
  emit({ kind: 'warning', runId, roster, code: 'resumed_with_differences', message });
}

/**
 * Closes a run that nobody will go on with. What it found stays for the next report of the roster, except what was answered after its last
 * passed control searches: none of its own can confirm that any more. Nothing stays of one that would have been held.
 */
async function abandon(
  app: AppContext,
  transaction: Queryable,
  { open, roster }: { open: RunRow; roster: string | null },
  blocker: string,
): Promise<void> {
  const list = await readListComparison(transaction, open.runId);
  const isCompared = list === null || list.comparedAt !== null;
  const taken =
    (await countCanaries(transaction, open.runId)).asked > 0
      ? await takeBackAnswers(transaction, open.runId, { reason: 'not_confirmed', now: app.clock.now() })
      : 0;
  const missing = await takeBackVanished(transaction, { app, run: open });
  const reported = await countReportedAndTakenBack(transaction, open.runId);
  const message = [
    `${toRunId(open)} is not resumed: ${blocker}`,
    isCompared ? 'what it left is planned anew' : `its customers were not compared with ${list.file}`,
    ...(taken > 0 ? [`${taken} of its answers count no more, because no control search followed them`] : []),
    ...(missing.length > 0 ? [`its other answers count no more either: ${missing.join('; ')}`] : []),
    ...(reported > 0 ? [`${countNoun(reported, 'change')} that it has reported did not hold`] : []),
  ].join('; ');
  app.emit({ kind: 'warning', runId: toRunId(open), roster, code: 'run_abandoned', message });
  await markInFlightUnknown(transaction, open.runId);
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
}

const slowMs = 2_000;

/** Reports when a write takes longer than two seconds, and when none does any more. */
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

/** The right to run something, kept alive; `signal` is aborted when somebody asks to stop, or with LeaseLostError. */
export interface HeldLease {
  lease: Lease;
  signal: AbortSignal;
}

/**
 * Does `work` while keeping a lease alive, and frees it then. Throws LeaseLostError naming the new owner when the work failed because
 * another process has taken the lease over, also where all that it learned itself is that its connection had been ended.
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

/** Frees the lease of work that failed; gives the error that says why it did. */
async function leaveLease(database: Database, kept: KeptLease, error: unknown): Promise<unknown> {
  const named = await nameNewOwner(database, kept.lease, error);
  // What cannot be freed expires; why the work failed matters more.
  await kept.release().catch(() => undefined);
  return named;
}

// Connections that ended while the process slept are found out one by one.
const mostLooks = 5;

async function nameNewOwner(database: Database, lease: Lease, error: unknown): Promise<unknown> {
  if (!(error instanceof DatabaseError || error instanceof LeaseLostError)) return error;
  for (let looks = 0; looks < mostLooks; looks += 1) {
    try {
      const holder = await findHolder(database, lease.key);
      if (holder === undefined || holder.epoch === lease.epoch) return error;
      const message = `lease ${lease.key} was taken over by ${describeHolder(holder)}, so nothing more is written`;
      return new LeaseLostError(message, { cause: error });
    } catch {
      // The next look takes another connection.
    }
  }
  return error;
}

/** How long a lease lives without a heartbeat, by the database's clock; a dead owner's is taken over after at most this. */
export const leaseTtlMs = 8_000;
const heartbeatMs = 1_000;

/** A lease kept alive in the background. */
interface KeptLease extends HeldLease {
  /** Ends the heartbeat and frees the lease. */
  release(): Promise<void>;
}

/** Renews the lease every second until it is released; `stop` is aborted when somebody asks to stop. */
export function keepLease(database: Database, lease: Lease, stop?: AbortSignal): KeptLease {
  const lost = new AbortController();
  let renewal: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    // A heartbeat that fails for once is no loss: the lease lives on until it expires, and every write checks it anyway.
    const isOurs = await renewLease(database, lease, leaseTtlMs).catch(() => true);
    if (!isOurs) lost.abort(new LeaseLostError(`lease ${lease.key} was taken over by another process`));
  };
  let isRenewing = false;
  const timer = setInterval(() => {
    // A database that is out of reach keeps a heartbeat waiting: the next ones would only queue behind it.
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

/** Notes every key that takes the place of a refused one during a run, until it is closed; closing throws what noting threw. */
export function recordKeys(session: RunSession, client: Client): { close: () => Promise<void> } {
  let noting: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;
  const note = async (fingerprint: string): Promise<void> => {
    const { clock } = session.app;
    await session.write((transaction) => noteRunKey(transaction, session.run.runId, fingerprint, clock.now()));
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
