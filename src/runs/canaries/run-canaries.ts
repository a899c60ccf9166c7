import type { Client } from '../../client/create-client.js';
import { type CanaryOutcome, saveCanaryOutcomes } from '../../store/canary-outcomes.js';
import type { RunSession } from '../session/run-session.js';
import { askCanary } from './ask-canary.js';

/**
 * Stage: the control searches, before any customer is searched. True when each came as expected; a service that answers nothing, or
 * everything, must not be asked about customers. Throws RunHalted when the service cannot be asked at all.
 */
export async function runCanaries(session: RunSession, client: Client): Promise<boolean> {
  const { workplace, run, runId } = session;
  const { canaries } = workplace.settings;
  if (canaries.length === 0) {
    const message = 'no canaries are configured: nothing shows that the service still finds a listed party';
    workplace.tell({ kind: 'warning', runId, code: 'no_canaries', message });
    return true;
  }
  workplace.tell({ kind: 'stage_started', runId, stage: 'canaries' });
  const outcomes: CanaryOutcome[] = [];
  for (const [ordinal, canary] of canaries.entries()) {
    outcomes.push(await askCanary(session, client, ordinal, canary));
  }
  await session.write((transaction) => saveCanaryOutcomes(transaction, run.runId, outcomes));
  const passed = outcomes.filter((outcome) => outcome.verdict === 'passed').length;
  const counts = { passed, failed: outcomes.length - passed };
  workplace.tell({ kind: 'stage_finished', runId, stage: 'canaries', counts });
  return passed === outcomes.length;
}
