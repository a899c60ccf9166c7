import type { Client } from '../../client/create-client.js';
import { countSearchTasks } from '../../store/screenings.js';
import type { Patience } from '../outages/outlast-outage.js';
import type { RunSession } from '../session/run-session.js';
import { askRound } from './ask-round.js';

/**
 * Stage: the control searches before any customer is searched, also each time the run is resumed. True when everything came as
 * expected so far. Throws RunHalted when the service cannot be asked at all.
 */
export async function openCanaries(session: RunSession, client: Client, patience: Patience): Promise<boolean> {
  const { workplace, run, runId } = session;
  if (workplace.settings.canaries.length === 0) {
    const message = 'no canaries are configured: nothing shows that the service still finds a listed party';
    workplace.tell({ kind: 'warning', runId, code: 'no_canaries', message });
  }
  const occasion = run.resumed > 0 ? 'resumed' : 'start';
  return askRound(session, client, patience, { occasion, searches: await countDone(session) });
}

/** How many searches of the plan have been answered; a round of no control searches does not ask. */
async function countDone({ workplace, run }: RunSession): Promise<number> {
  if (workplace.settings.canaries.length === 0) return 0;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  return total - remaining;
}
