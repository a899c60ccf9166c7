import type { Client } from '../../client/create-client.js';
import { noteRunKey } from '../../store/runs.js';
import type { RunSession } from './run-session.js';

/** Notes every key that takes the place of a refused one during a run, until it is closed; closing throws what noting threw. */
export function recordKeys(session: RunSession, client: Client): { close: () => Promise<void> } {
  let noting: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;
  const note = async (fingerprint: string): Promise<void> => {
    const { clock } = session.workplace;
    await session.write((transaction) => noteRunKey(transaction, session.run.runId, fingerprint, clock.now()));
  };
  const leave = client.listen((event) => {
    if (event.kind !== 'key_renewed') return;
    noting = noting
      .then(() => note(event.fingerprint))
      .catch((error: unknown) => {
        failure ??= { error };
      });
  });
  return {
    close: async () => {
      leave();
      await noting;
      if (failure) throw failure.error;
    },
  };
}
