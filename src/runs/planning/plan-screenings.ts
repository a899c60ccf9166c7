import { toCadence } from '../../screening/cadence.js';
import { countStoredPlan, insertPlan, type PlanCounts, removePlan } from '../../store/plan.js';
import { setComparedRun, setRunCadence, setRunStage } from '../../store/runs.js';
import type { RunSession } from '../session/run-session.js';
import { recordStates } from '../telling/record-states.js';
import { type PlanRequest, toPlanInput } from './plan-input.js';

/** Stage: stores who is due and why, before the first paid call; in place of a plan of which nothing has been done. */
export async function planScreenings(session: RunSession, request: PlanRequest): Promise<PlanCounts> {
  const { workplace, run, runId } = session;
  workplace.tell({ kind: 'stage_started', runId, stage: 'plan' });
  const counts = await session.write(async (transaction) => {
    await removePlan(transaction, run.runId);
    const { input } = await toPlanInput(workplace, transaction, request, run.runId);
    await setComparedRun(transaction, run.runId);
    await setRunCadence(transaction, run.runId, toCadence(workplace.settings.screening));
    await insertPlan(transaction, run.runId, input);
    await setRunStage(transaction, run.runId, 'planned');
    const stored = await countStoredPlan(transaction, run.runId);
    await recordStates(transaction, session, 'planned');
    return stored;
  });
  const { inScope, planned, searches, reasons } = counts;
  workplace.tell({ kind: 'stage_finished', runId, stage: 'plan', counts: { inScope, planned, searches, ...reasons } });
  return counts;
}
