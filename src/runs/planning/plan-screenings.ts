import { setComparedRun, setRunStage } from '../../store/runs.js';
import {
  countPlan,
  fixScope,
  insertPlan,
  type PlanCounts,
  type PlanInput,
  type PlanSelection,
  removePlan,
} from '../../store/screening-plan.js';
import type { RunSession } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';

const hourMs = 60 * 60 * 1_000;
/** A night that starts a little earlier than the last one must still find everybody due. */
const graceMs = hourMs;

/** Who is asked about at this moment under the settings. */
export function toPlanInput(
  workplace: Workplace,
  rosterId: number,
  accountId: number | null,
  selection: PlanSelection,
): PlanInput {
  const { cadenceHours, leaveAfterDays } = workplace.settings.screening;
  const now = workplace.clock.now().getTime();
  return {
    rosterId,
    accountId,
    selection,
    dueBefore: new Date(now - Math.max(cadenceHours * hourMs - graceMs, 0)),
    leaveAfterDays,
  };
}

/** Stage: stores who is due and why, before the first paid call; in place of a plan of which nothing has been done. */
export async function planScreenings(
  session: RunSession,
  plan: { rosterId: number; accountId: number | null; selection: PlanSelection },
): Promise<PlanCounts> {
  const { workplace, run, runId } = session;
  workplace.tell({ kind: 'stage_started', runId, stage: 'plan' });
  const input = toPlanInput(workplace, plan.rosterId, plan.accountId, plan.selection);
  const counts = await session.write(async (transaction) => {
    await removePlan(transaction, run.runId);
    const counts = await countPlan(transaction, input);
    await setComparedRun(transaction, run.runId);
    await insertPlan(transaction, run.runId, input);
    await fixScope(transaction, run.runId, input);
    await setRunStage(transaction, run.runId, 'planned');
    return counts;
  });
  const { inScope, planned, searches, reasons } = counts;
  workplace.tell({ kind: 'stage_finished', runId, stage: 'plan', counts: { inScope, planned, searches, ...reasons } });
  return counts;
}
