import { setTimeout as delay } from 'node:timers/promises';
import { NightscreenError } from '../../errors.js';
import {
  endChunks,
  isAble,
  mostDeaths,
  openChunks,
  readChunkProgress,
  readWorkers,
  stopChunks,
} from '../../store/night/chunks.js';
import { countAnswers, markInFlightUnknown } from '../../store/night/ledger.js';
import { countSearchTasks } from '../../store/night/screenings.js';
import { RunHalted, stopGraceMs } from '../halt.js';
import { runWorker } from '../worker-run.js';
import type { SearchContext } from './search-task.js';

const pollMs = 250;
const missingAfterMs = 5_000;
const all = 2 ** 40;

/** About five seconds of a quarter of the rate: what a worker that dies delays. */
export const toChunkSize = (perSecond: number): number => Math.min(500, Math.max(25, Math.ceil(1.25 * perSecond)));

/**
 * Makes one pass over the remaining searches by workers. This process cuts them into chunks, makes the control searches between waves, and waits
 * for the workers. Returns how many searches are unanswered; throws RunHalted as `screenTasks` does, and NightscreenError `chunk_abandoned` when
 * searches have ended one worker after another.
 */
export async function searchByWorkers(context: SearchContext): Promise<{ unanswered: number }> {
  const { session, tally, controls, badAnswers } = context;
  const { app, run, write } = session;
  if (!(await controls.searchIfDue())) return { unanswered: 0 };
  const { service, screening } = app.settings;
  const hasControls = app.settings.controls.length > 0;
  const waves = await write((transaction) =>
    openChunks(transaction, run.runId, {
      version: app.version,
      size: toChunkSize(service.rate.perSecond),
      first: hasControls ? controls.untilNext : all,
      each: hasControls ? screening.controlsEvery : all,
      most: Math.min(all, tally.affordable),
    }),
  );
  const before = await countAnswers(app.database, run.runId);
  const inline = startInline(context);
  try {
    for (const { searches } of waves) {
      if (!(await controls.searchIfDue())) return { unanswered: 0 };
      tally.handOut(searches);
      await awaitWorkers(context);
    }
  } finally {
    await leaveWorkers(context).finally(inline.stop);
  }
  const again = badAnswers.follow(before, await countAnswers(app.database, run.runId));
  const { remaining } = await countSearchTasks(app.database, run.runId);
  if (remaining > 0 && tally.affordable === 0) tally.reachLimit();
  return { unanswered: remaining - again };
}

/** Makes this process a worker as well, where the settings want it. */
function startInline({ session, signals }: SearchContext): { stop: () => Promise<void> } {
  const { app } = session;
  if (!app.settings.fleet || app.settings.fleet.worker === 'separate') return { stop: async () => {} };
  const stopping = new AbortController();
  // A number of its own in the run: it counts its batches and calls by itself.
  const working = runWorker({ ...app, owner: `${app.owner}:worker` }, stopping.signal).catch(signals.stop);
  return {
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}

/** Waits until the chunks of the current wave are done. */
async function awaitWorkers(context: SearchContext): Promise<void> {
  const { session, account, tally, signals } = context;
  const { app, run, runId } = session;
  const read = () => readChunkProgress(app.database, run.runId, account.accountId);
  const begun = await read();
  const doneBefore = tally.done;
  const watch = watchWorkers(context);
  for (;;) {
    const progress = await read();
    tally.follow({ done: doneBefore + progress.searches - begun.searches, calls: progress.calls });
    const { done, total, calls, found } = tally;
    const alive = await watch(progress.pauseMs);
    const workers = { alive, chunksDone: progress.done, chunksLeft: progress.open + progress.later };
    app.emit({ kind: 'progress', runId, stage: 'screen', done, total, calls, found: { ...found }, workers });
    if (progress.haltedBy !== null) throw new RunHalted(progress.haltedBy, progress.haltReason ?? '');
    if (progress.abandoned !== null) throw toAbandoned(progress.abandoned);
    if (progress.open === 0) return;
    signals.throwIfStopped();
    await delay(pollMs, undefined, { signal: signals.waitSignal }).catch(() => undefined);
  }
}

function toAbandoned(chunk: number): NightscreenError {
  const message = `${mostDeaths} workers have died or failed one after the other at chunk ${chunk} of this run. See what they have printed, and start the run again`;
  return new NightscreenError('chunk_abandoned', message);
}

/**
 * Watches whether any worker can search, and gives the number of those that can. An absence, and a pause that the service wants, are waited for as
 * an outage of the service is.
 */
function watchWorkers({
  session: { app },
  account: { accountId },
  outage,
}: SearchContext): (pauseMs: number) => Promise<number> {
  const { version, settingsDigest } = app;
  let missingSinceMs: number | null = null;
  return async (pauseMs) => {
    const workers = await readWorkers(app.database, app.settings.organisation);
    const able = workers.filter((one) => isAble(one, { version, settingsDigest, accountId }));
    // A worker that waits for a chunk is no evidence about the service.
    const isOut = able.length > 0 && able.every((one) => one.outageSince !== null);
    const nowMs = performance.now();
    missingSinceMs = able.length > 0 ? null : (missingSinceMs ?? nowMs);
    if (pauseMs > 0) outage.notePause(pauseMs);
    else if (isOut) outage.noteOutage('the service is out of reach for all workers');
    else if (missingSinceMs === null) outage.noteAnswer();
    else if (nowMs - missingSinceMs >= missingAfterMs) outage.noteOutage(describeMissing(workers.length));
    return able.length;
  };
}

const describeMissing = (others: number): string =>
  others === 0
    ? 'no worker is alive; start `nightscreen worker`'
    : `none of ${others} workers has this version, these settings and this account; start workers like this process`;

/** Stops what workers still search for the run, waits until they have saved it, and takes their chunks. */
async function leaveWorkers({ session, account }: SearchContext): Promise<void> {
  const { app, run, write } = session;
  await write((transaction) => stopChunks(transaction, run.runId));
  const endMs = performance.now() + stopGraceMs + 1_000;
  const isHeld = async () => (await readChunkProgress(app.database, run.runId, account.accountId)).held > 0;
  while (performance.now() < endMs && (await isHeld())) await delay(pollMs);
  await write(async (transaction) => {
    await endChunks(transaction, run.runId);
    await markInFlightUnknown(transaction, run.runId);
  });
}
