import type { AttemptEnd, AttemptObserver } from '../../client/calls/attempt-observer.js';
import type { AttemptRecord, SearchAttempts } from '../../store/search-attempts.js';
import type { NoteRepeat } from './note-repeats.js';

/** What keeps a search's attempts for the ledger. */
export interface AttemptRecorder {
  observer: AttemptObserver;
  /** What the attempts came to; what was noted and never sent is told too. */
  finish(): SearchAttempts;
}

/** Keeps the attempts of one search, the first of which was noted as `attemptId`; each further one is noted before it is sent. */
export function recordAttempts(requestId: number, attemptId: number, noteRepeat: NoteRepeat): AttemptRecorder {
  const attempts: AttemptRecord[] = [];
  const notedIds = [attemptId];
  return {
    observer: {
      repeating: async () => {
        notedIds.push(await noteRepeat(requestId));
      },
      ended: (attempt, end) => {
        const id = notedIds.shift();
        if (id === undefined)
          throw new Error(`attempt ${attempt.attempt} of ${attempt.operation} was not noted before it was sent`);
        attempts.push({
          attemptId: id,
          startedAt: attempt.startedAt,
          endedAt: end.endedAt,
          status: end.status,
          outcome: toLedgerOutcome(end),
          serviceRequestId: end.requestId ?? null,
        });
      },
    },
    finish: () => ({ attempts, unsentIds: notedIds }),
  };
}

/** What never left this machine, nobody can have counted or billed; of what was given up on its way nobody here knows. */
function toLedgerOutcome({ isSent, outcome }: AttemptEnd): string {
  if (!isSent) return 'not_sent';
  return outcome === 'aborted' ? 'unknown' : outcome;
}
