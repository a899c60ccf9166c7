import type { Queryable } from '../../store/database/database.js';
import { recordStateChanges, saveWebhooks } from '../../store/webhooks.js';
import type { RunSession } from '../session/run-session.js';

/**
 * Records whose state has changed, for the history and for the systems that are told of it; the last step of its transaction. When a run is
 * planned, that is whose screening has expired or been superseded; when it closes, whatever it has found. Whoever is new is recorded then.
 */
export async function recordStates(
  transaction: Queryable,
  { workplace, run }: RunSession,
  when: 'planned' | 'closed',
): Promise<void> {
  if (run.rosterId === null) return;
  await saveWebhooks(transaction, run.organisationId, workplace.settings.webhooks ?? []);
  await recordStateChanges(transaction, run.rosterId, workplace.clock.now(), { withNew: when === 'closed' });
}
