import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import { LeaseLostError } from '../../errors.js';
import type { Transaction } from '../../store/database/database.js';
import type { Lease } from '../../store/database/leases.js';
import { assertClaim, type ChunkClaim, claimChunk, haltByChunk, leaveChunk } from '../../store/night/chunks.js';
import { countBadAnswers, RunNumbers } from '../../store/night/ledger.js';
import { readListCap } from '../../store/night/responses.js';
import { countSearchTasks, readTasksOf } from '../../store/night/screenings.js';
import type { Account, Organisation } from '../../store/organisations.js';
import { readRun, toRunId } from '../../store/runs.js';
import type { AppContext } from '../app-context.js';
import { RunHalted } from '../halt.js';
import type { RunSession } from '../session.js';
import { createAttemptNotes } from './attempts.js';
import { expectControlSearches, hasCaps, watchLedger } from './plan.js';
import { searchMany } from './search-many.js';
import { BadAnswers, openStopSignals, SearchTally } from './search-task.js';

/** A process that searches chunks of any run of its account. */
export interface ChunkSearcher {
  app: AppContext;
  client: Client;
  organisation: Organisation;
  account: Account;
  lease: Lease;
  /** Learns of answers. */
  reach: { noteAnswer(): void };
  /** Its numbers in the runs that it has joined. */
  numbers: Map<number, RunNumbers>;
  /** What it may take from the budget's reserve, by run. */
  reserves: Map<number, number>;
}

const pollMs = 500;

/** Searches one chunk after another until `signal` is aborted, while `mayClaim` says so; `giveBack` is aborted when it must keep none. */
export async function searchChunks(
  searcher: ChunkSearcher,
  { signal, mayClaim, giveBack }: { signal: AbortSignal; mayClaim: () => boolean; giveBack: () => AbortSignal },
): Promise<void> {
  const { app, lease, account, numbers: joined } = searcher;
  const { version, settingsDigest } = app;
  while (!signal.aborted) {
    const scope = { joined, accountId: account.accountId, version, settingsDigest, takenAt: app.clock.now() };
    const claim = mayClaim()
      ? await app.database.transaction((transaction) => claimChunk(transaction, lease, scope))
      : null;
    if (claim === null) await delay(pollMs, undefined, { signal }).catch(() => undefined);
    else await searchChunk(searcher, claim, AbortSignal.any([signal, giveBack()]));
  }
}

/** Searches a chunk, and leaves it done, or open for another process. */
async function searchChunk(searcher: ChunkSearcher, claim: ChunkClaim, signal: AbortSignal): Promise<void> {
  const { app, client, account, reach } = searcher;
  const { database } = app;
  const begunMs = performance.now();
  const leave = (work: (transaction: Transaction) => Promise<void>): Promise<void> =>
    database.transaction(async (transaction) => {
      await assertClaim(transaction, claim);
      await work(transaction);
    });
  try {
    const stopping = new AbortController();
    const session = await openChunkSession(searcher, claim, AbortSignal.any([signal, stopping.signal]), () =>
      stopping.abort(new RunHalted('signal', 'the run stops')),
    );
    const tasks = await readTasksOf(app, claim.runId, claim.partyIds);
    const requestIds = tasks.map(({ requestId }) => requestId);
    const signals = openStopSignals(session.signal, new AbortController().signal);
    const context = {
      session,
      client,
      signals,
      outage: reach,
      noteAttempt: createAttemptNotes(session),
      tally: new SearchTally({ total: tasks.length, done: 0 }, undefined),
      badAnswers: new BadAnswers(await countBadAnswers(database, claim.runId, requestIds)),
    };
    const watched = { ...account, listCap: await readListCap(database, account.accountId) };
    try {
      await searchMany(context, watched, async function* ({ underWay }) {
        for (const task of tasks) {
          if (signals.waitSignal.aborted) return;
          underWay.begin();
          yield task;
        }
      });
      signals.throwIfStopped();
    } finally {
      signals.clear();
    }
    await leave((transaction) => leaveChunk(transaction, claim, true));
    const seconds = Math.round((performance.now() - begunMs) / 100) / 10;
    app.emit({ kind: 'chunk_finished', runId: session.runId, chunk: claim.number, searches: tasks.length, seconds });
  } catch (error) {
    if (error instanceof LeaseLostError) return;
    const halt = error instanceof RunHalted && error.code !== 'signal' ? error : null;
    await leave(async (transaction) => {
      if (halt !== null) await haltByChunk(transaction, claim, halt);
      await leaveChunk(transaction, claim, false);
    }).catch((failure: unknown) => {
      if (!(failure instanceof LeaseLostError)) throw failure;
    });
    if (!(error instanceof RunHalted) && !signal.aborted) throw error;
  }
}

/** The session of a chunk: its writes count only while the claim holds, and `stop` is called when the run stops. */
async function openChunkSession(
  { app, organisation, account, lease, numbers, reserves }: ChunkSearcher,
  claim: ChunkClaim,
  signal: AbortSignal,
  stop: () => void,
): Promise<RunSession> {
  const run = await readRun(app.database, claim.runId);
  if (run === null) throw new LeaseLostError(`run ${claim.runId} does not exist`);
  const own = numbers.get(run.runId) ?? new RunNumbers({ runId: run.runId, worker: claim.worker, wave: claim.wave });
  numbers.set(run.runId, own);
  own.beginWave(claim.wave);
  const write: RunSession['write'] = (work) =>
    app.database.transaction(async (transaction) => {
      const [{ isStopped }, result] = await Promise.all([assertClaim(transaction, claim), work(transaction)]);
      if (isStopped) stop();
      return result;
    });
  // Progress is that of the run, which its own process shows.
  const emit: AppContext['emit'] = (event) => {
    if (event.kind !== 'progress') app.emit(event);
  };
  const session = {
    app: { ...app, emit },
    organisation,
    run,
    runId: toRunId(run),
    roster: null,
    lease,
    signal,
    numbers: own,
    write,
  };
  const reserved = reserves.get(run.runId) ?? (await countReserved(app, run.runId));
  reserves.set(run.runId, reserved);
  return (await watchLedger(session, account.accountId, reserved)).session;
}

/** The searches that a run may make from the reserve of the budget. */
async function countReserved(app: AppContext, runId: number): Promise<number> {
  if (!hasCaps(app.settings)) return 0;
  const { remaining, remainingOfNew } = await countSearchTasks(app.database, runId);
  return remainingOfNew + expectControlSearches(app.settings, remaining);
}
