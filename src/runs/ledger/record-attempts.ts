import type { AttemptEnd, AttemptObserver } from '../../client/calls/attempt-observer.js';
import { requireFound } from '../../store/require-all.js';
import { type AttemptRecord, noteInFlight } from '../../store/search-attempts.js';
import type { RunSession } from '../session/run-session.js';

/** Notes in the ledger that a request is about to be sent; gives the row of that attempt. */
export type NoteAttempt = (requestId: number) => Promise<number>;

interface Waiting {
  requestId: number;
  resolve: (attemptId: number) => void;
  reject: (error: unknown) => void;
}

/** A way to note attempts right before they are sent; those whose turn comes while others are being written are written together. */
export function createNoteAttempt({ workplace, run, write }: RunSession): NoteAttempt {
  const waiting: Waiting[] = [];
  let isWriting = false;

  const writeGroup = async (group: readonly Waiting[]): Promise<void> => {
    const requestIds = group.map(({ requestId }) => requestId);
    try {
      const noted = await write((transaction) =>
        noteInFlight(transaction, run.runId, requestIds, workplace.clock.now()),
      );
      for (const { requestId, resolve } of group) resolve(requireFound(noted, requestId, 'search_attempt'));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) await writeGroup(waiting.splice(0, mostTogether));
    isWriting = false;
  };

  return (requestId) =>
    new Promise((resolve, reject) => {
      waiting.push({ requestId, resolve, reject });
      if (!isWriting) void writeAll();
    });
}

const mostTogether = 256;

/** What keeps a search's attempts for the ledger. */
export interface AttemptRecorder {
  observer: AttemptObserver;
  /** Those that have ended. */
  attempts: readonly AttemptRecord[];
}

/** Keeps the attempts of one search, each of which `note` notes right before it is sent. */
export function recordAttempts(note: () => Promise<number>): AttemptRecorder {
  const attempts: AttemptRecord[] = [];
  let attemptId: number | undefined;
  return {
    observer: {
      leaving: async () => {
        attemptId = await note();
      },
      ended: (attempt, end) => {
        if (attemptId === undefined)
          throw new Error(`attempt ${attempt.attempt} of ${attempt.operation} was not noted before it was sent`);
        attempts.push({
          attemptId,
          startedAt: attempt.startedAt,
          endedAt: end.endedAt,
          status: end.status,
          outcome: toLedgerOutcome(end),
          serviceRequestId: end.requestId ?? null,
        });
        attemptId = undefined;
      },
    },
    attempts,
  };
}

/** What never left this machine, nobody can have counted or billed; of what was given up on its way nobody here knows. */
function toLedgerOutcome({ isSent, outcome }: AttemptEnd): string {
  if (!isSent) return 'not_sent';
  return outcome === 'aborted' ? 'unknown' : outcome;
}
