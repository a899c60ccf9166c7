import type { Transaction } from '../store/database/database.js';
import type { RunSums } from '../store/night/run-sums.js';
import { closeRun } from '../store/runs.js';
import { type RunSummary, toRunSummary } from './run-summary.js';
import type { RunSession } from './session.js';

/** Closes a run in a transaction of its own, with what `also` stores after that, and says so. Returns its summary. */
export async function endRun(
  session: RunSession,
  {
    sums = null,
    haltedBy = null,
    ...end
  }: Omit<Parameters<typeof toRunSummary>[0], 'runId' | 'roster' | 'kind'> & { sums?: RunSums | null },
  also: (transaction: Transaction) => Promise<void> = async () => undefined,
): Promise<RunSummary> {
  const { app, run, runId, roster } = session;
  const { state, reasons } = end;
  await session.write(async (transaction) => {
    const finishedAt = app.clock.now();
    const stage = 'finished';
    await closeRun(transaction, run.runId, { state, stateReasons: reasons, haltedBy, stage, finishedAt, sums });
    await also(transaction);
  });
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, state, reasons });
  return toRunSummary({ ...end, runId, roster, kind: run.kind, haltedBy });
}
