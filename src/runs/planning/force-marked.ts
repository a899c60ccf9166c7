import { toDurationMs } from '../../roster/duration.js';
import { dirtySettingsSchema } from '../../screening/settings.js';
import { forceMarkedCustomers, listMarkedCustomers, type MarkedScope } from '../../store/event-marks.js';
import type { RunSession } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';
import { expectControlSearches } from './plan-input.js';

/** Which marked customers of a roster may be searched for at this moment, by the settings. */
export function toMarkedScope({ clock, settings }: Workplace, rosterId: number, accountId: number): MarkedScope {
  const { searchesPerRun, searchesPerDay, againAfter } = settings.screening.dirty ?? dirtySettingsSchema.parse({});
  return {
    ...{ rosterId, accountId, now: clock.now(), timezone: settings.run.timezone },
    againAfterMs: toDurationMs(againAfter),
    mostPerRun: searchesPerRun,
    mostPerDay: searchesPerDay,
    controlSearches: expectControlSearches(settings, 1),
  };
}

/** Stage: takes the marked customers of a roster into this run, which is planned for nobody else. */
export async function forceMarked(
  { workplace, run, write }: RunSession,
  { rosterId, accountId }: { rosterId: number; accountId: number | null },
): Promise<void> {
  if (accountId === null) return;
  const scope = toMarkedScope(workplace, rosterId, accountId);
  await write(async (transaction) => {
    const customerIds = await listMarkedCustomers(transaction, scope);
    await forceMarkedCustomers(transaction, { runId: run.runId, accountId }, customerIds, scope.now);
  });
}
