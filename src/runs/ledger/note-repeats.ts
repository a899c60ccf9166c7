import { requireFound } from '../../store/require-all.js';
import { noteInFlight } from '../../store/search-attempts.js';
import type { RunSession } from '../session/run-session.js';

/** Notes in the ledger that a request is about to be sent once more; gives the row of that attempt. */
export type NoteRepeat = (requestId: number) => Promise<number>;

interface Waiting {
  requestId: number;
  resolve: (attemptId: number) => void;
  reject: (error: unknown) => void;
}

/** A way to note repeats before they are sent; those that come while others are being written are written together. */
export function createNoteRepeat(session: RunSession): NoteRepeat {
  const { workplace, run } = session;
  let waiting: Waiting[] = [];
  let isWriting = false;

  const write = async (group: readonly Waiting[]): Promise<void> => {
    const requestIds = group.map(({ requestId }) => requestId);
    try {
      const noted = await session.write((transaction) =>
        noteInFlight(transaction, run.runId, requestIds, workplace.clock.now()),
      );
      for (const { requestId, resolve } of group) resolve(requireFound(noted, requestId, 'search_attempt'));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await write(group);
    }
    isWriting = false;
  };

  return (requestId) =>
    new Promise((resolve, reject) => {
      waiting.push({ requestId, resolve, reject });
      if (!isWriting) void writeAll();
    });
}
