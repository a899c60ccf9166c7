import { readCanaryOutcomes } from '../store/canary-outcomes.js';
import { computeRunSums } from '../store/compute-run-sums.js';
import { expirePartyStates } from '../store/party-states.js';
import { closeRun } from '../store/runs.js';
import { failAll } from '../store/screenings.js';
import { toRunVerdict } from './run-verdict.js';
import type { RunHalted } from './session/run-halted.js';
import type { RunSession } from './session/run-session.js';
import { type RunSummary, toRunSummary } from './session/run-summary.js';

/** Stage: adds the run up, judges it and closes it; the summary has no artifacts yet. */
export async function finishScreening(session: RunSession, halted: RunHalted | null): Promise<RunSummary> {
  const { workplace, run, runId } = session;
  const closed = await session.write(async (transaction) => {
    const outcomes = await readCanaryOutcomes(transaction, run.runId);
    const failed = outcomes.filter((outcome) => outcome.verdict === 'failed').length;
    // A service that misses a listed party, or finds everybody, has said nothing about anyone in this run.
    if (failed > 0 && !halted) {
      await failAll(transaction, run.runId, 'canary_failed');
      await expirePartyStates(transaction, run.runId);
    }
    const sums = await computeRunSums(transaction, run.runId);
    const { state, reasons } = toRunVerdict({
      sums,
      haltedBecause: halted?.message ?? null,
      canaries: { configured: workplace.settings.canaries.length, failed },
      mode: run.mode,
    });
    await closeRun(transaction, run.runId, {
      state,
      stateReasons: reasons,
      stage: halted ? null : 'finished',
      finishedAt: workplace.clock.now(),
      sums,
    });
    return { sums, state, reasons };
  });
  workplace.tell({ kind: 'run_finished', runId, runKind: run.kind, state: closed.state, reasons: closed.reasons });
  const { inScope: _, ...counts } = closed.sums.counts;
  return toRunSummary({
    runId,
    roster: session.roster,
    kind: run.kind,
    state: closed.state,
    reasons: closed.reasons,
    counts,
  });
}
