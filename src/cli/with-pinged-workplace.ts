import type { PingedWork } from '../webhooks/ping-settings.js';
import type { Invocation, Outcome } from './invocation.js';
import { loadInvocationConfig, type WorkplaceTask, withWorkplace } from './session.js';
import { withPings } from './with-pings.js';

/** Works in a workplace, and tells the monitor of that work that it began and how it ended, where one is configured. */
export async function withPingedWorkplace<Prepared>(
  invocation: Invocation,
  work: PingedWork,
  task: WorkplaceTask<Prepared, Outcome>,
): Promise<Outcome> {
  const config = loadInvocationConfig(invocation);
  const complain = (message: string): void => invocation.notify({ level: 'warn', code: 'ping_not_taken', message });
  const listener = { complain, signal: invocation.signal };
  return withPings(config, work, listener, () => withWorkplace(invocation, task), listLines);
}

/** The runs of a document by name and state: nothing else of it leaves the house by a ping. */
function listLines({ exitCode, document }: Outcome) {
  const listed: unknown = document['runs'];
  const runs: readonly unknown[] = Array.isArray(listed) ? listed : [document];
  const lines = runs.flatMap((run) => {
    if (typeof run !== 'object' || run === null || !('runId' in run) || !('state' in run)) return [];
    return [`${String(run.runId)} ${String(run.state)}`];
  });
  return { exitCode, lines };
}
