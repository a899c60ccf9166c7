import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import { ApiError, LeaseLostError } from '../../errors.js';
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
import { expectControlSearches, hasCaps, type LedgerWatch, openLedgerWatch } from './plan.js';
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
  /** The budget of those runs, by run and resumption: reading what is used takes the longer the further a run is. */
  ledgers: Map<string, LedgerWatch>;
}

const pollMs = 500;
/** The last answers of one are awaited while the next one is searched. */
export const chunksAtOnce = 2;

/**
 * Searches one chunk after another until `signal` is aborted, while `mayClaim` says so; `giveBack` is aborted when it must keep none. The next chunk
 * is claimed when the last search of the one before has begun: two that begin together would be written in groups half as large.
 */
export async function searchChunks(
  searcher: ChunkSearcher,
  { signal, mayClaim, giveBack }: { signal: AbortSignal; mayClaim: () => boolean; giveBack: () => AbortSignal },
): Promise<void> {
  const failing = new AbortController();
  const all = AbortSignal.any([signal, failing.signal]);
  const underWay = new Set<Promise<void>>();
  while (!all.aborted) {
    const claim = mayClaim() ? await claimNext(searcher).catch((error: unknown) => failing.abort(error)) : null;
    if (!claim) {
      await delay(pollMs, undefined, { signal: all }).catch(() => undefined);
      continue;
    }
    await new Promise<void>((begun) => {
      const search = searchChunk(searcher, claim, { signal: AbortSignal.any([all, giveBack()]), begun })
        .catch((error: unknown) => failing.abort(error))
        .finally(() => {
          underWay.delete(search);
          begun();
        });
      underWay.add(search);
    });
    if (underWay.size >= chunksAtOnce) await Promise.race(underWay);
  }
  // What is in flight is saved before the lease is given up.
  await Promise.all(underWay);
  if (!signal.aborted) throw failing.signal.reason;
}

function claimNext({ app, lease, account, numbers: joined }: ChunkSearcher): Promise<ChunkClaim | null> {
  const { version, settingsDigest } = app;
  const scope = { joined, accountId: account.accountId, version, settingsDigest, takenAt: app.clock.now() };
  return app.database.transaction((transaction) => claimChunk(transaction, lease, scope));
}

/** Searches a chunk, and leaves it done, or open for another process. Calls `begun` when its last search has begun. */
async function searchChunk(
  searcher: ChunkSearcher,
  claim: ChunkClaim,
  { signal, begun }: { signal: AbortSignal; begun: () => void },
): Promise<void> {
  const { database } = searcher.app;
  const leave = (end: 'done' | 'given_back' | 'failed', halt: RunHalted | null = null): Promise<void> =>
    database.transaction(async (transaction) => {
      await assertClaim(transaction, claim);
      if (halt !== null) await haltByChunk(transaction, claim, halt);
      await leaveChunk(transaction, claim, end);
    });
  try {
    await searchTasks(searcher, claim, { signal, begun });
    await leave('done');
  } catch (error) {
    if (error instanceof LeaseLostError) return;
    const halt = error instanceof RunHalted && error.code !== 'signal' ? error : null;
    const isOwn = halt !== null && isKeyRefused(halt);
    const hasFailed = !(error instanceof RunHalted) && !signal.aborted;
    await leave(hasFailed ? 'failed' : 'given_back', isOwn ? null : halt).catch((failure: unknown) => {
      if (!(failure instanceof LeaseLostError)) throw failure;
    });
    if (hasFailed || isOwn) throw error;
  }
}

/** Makes the searches of a chunk and saves them. Throws the reason when they end before. */
async function searchTasks(
  searcher: ChunkSearcher,
  claim: ChunkClaim,
  { signal, begun }: { signal: AbortSignal; begun: () => void },
): Promise<void> {
  const { app, client, account, reach } = searcher;
  const { database } = app;
  const begunMs = performance.now();
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new RunHalted('signal', 'the run stops'));
  const session = await openChunkSession(searcher, claim, AbortSignal.any([signal, stopping.signal]), stop);
  const tasks = await readTasksOf(app, claim.runId, claim.partyIds);
  const requestIds = tasks.map(({ requestId }) => requestId);
  const signals = openStopSignals(session.signal, new AbortController().signal);
  const context = {
    session,
    client,
    signals,
    outage: reach,
    notes: createAttemptNotes(session),
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
      begun();
    });
    signals.throwIfStopped();
  } finally {
    signals.clear();
  }
  const seconds = Math.round((performance.now() - begunMs) / 100) / 10;
  app.emit({ kind: 'chunk_finished', runId: session.runId, chunk: claim.number, searches: tasks.length, seconds });
}

/** Whether the service refuses the key of this process: others may have another key of the account. */
const isKeyRefused = ({ code, cause }: RunHalted): boolean =>
  code === 'account' && cause instanceof ApiError && cause.status === 401;

/** The session of a chunk: its writes count only while the claim holds, and `stop` is called when the run stops. */
async function openChunkSession(
  searcher: ChunkSearcher,
  claim: ChunkClaim,
  signal: AbortSignal,
  stop: () => void,
): Promise<RunSession> {
  const { app, organisation, lease, numbers } = searcher;
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
  return (await findLedgerWatch(searcher, session)).guard(session);
}

async function findLedgerWatch({ app, account, ledgers }: ChunkSearcher, session: RunSession): Promise<LedgerWatch> {
  const { runId, resumed } = session.run;
  const key = `${runId}/${resumed}`;
  const watch =
    ledgers.get(key) ?? (await openLedgerWatch(session, account.accountId, await countReserved(app, runId)));
  ledgers.set(key, watch);
  return watch;
}

/** The searches that a run may make from the reserve of the budget. */
async function countReserved(app: AppContext, runId: number): Promise<number> {
  if (!hasCaps(app.settings)) return 0;
  const { remaining, remainingOfNew } = await countSearchTasks(app.database, runId);
  return remainingOfNew + expectControlSearches(app.settings, remaining);
}
