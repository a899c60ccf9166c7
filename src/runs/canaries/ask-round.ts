import type { Client } from '../../client/create-client.js';
import type { Canary } from '../../matches/canary.js';
import { type CanaryRound, findNextRound, hasFailedCanary } from '../../store/canaries.js';
import { confirmAnswers, readLastBatch } from '../../store/unconfirmed-answers.js';
import { outlastOutage, type Patience } from '../outages/outlast-outage.js';
import type { RunSession } from '../session/run-session.js';
import { askCanary } from './ask-canary.js';
import { recordCanary } from './record-canary.js';

/**
 * Asks every control search once and waits out an outage meanwhile. True when each came as expected, in this round and all before it, which
 * confirms what the run had saved when the round began: a service that answers nothing, or everything, must not be asked about customers.
 * Throws RunHalted when the run waits no longer.
 */
export async function askRound(
  session: RunSession,
  client: Client,
  patience: Patience,
  when: Omit<CanaryRound, 'round'>,
): Promise<boolean> {
  const { workplace, run, runId } = session;
  if (await hasFailedCanary(workplace.database, run.runId)) return false;
  const [first, ...others] = workplace.settings.canaries.entries();
  if (first === undefined) return true;
  workplace.tell({ kind: 'stage_started', runId, stage: 'canaries' });
  const lastBatchId = await readLastBatch(workplace.database, run.runId);
  const round = { ...when, round: await findNextRound(workplace.database, run.runId) };
  const ask = async ([ordinal, canary]: [number, Canary]): Promise<boolean> => {
    const { value: outcome } = await outlastOutage(patience, (signal) =>
      askCanary({ ...session, signal }, client, ordinal, canary),
    );
    await recordCanary(session, round, outcome);
    return outcome.verdict === 'passed';
  };
  // The first by itself: it finds out about an outage at the least cost.
  const passed = [await ask(first), ...(await allOf(others.map(ask)))].filter((isWell) => isWell).length;
  const failed = 1 + others.length - passed;
  if (failed === 0) await session.write((transaction) => confirmAnswers(transaction, run.runId, lastBatchId));
  const { occasion } = when;
  workplace.tell({ kind: 'stage_finished', runId, stage: 'canaries', counts: { passed, failed }, occasion });
  return failed === 0;
}

/** Waits for all, whatever becomes of them, so that nothing is written after a halt; throws what the first of them threw. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
