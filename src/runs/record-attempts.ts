import type { AttemptObserver } from '../client/calls/attempt-observer.js';
import type { AttemptRecord } from '../store/search-attempts.js';

/** An observer that keeps what a call's attempts came to, for the ledger. */
export function recordAttempts(): { observer: AttemptObserver; attempts: AttemptRecord[] } {
  const attempts: AttemptRecord[] = [];
  return {
    attempts,
    observer: {
      ended: (attempt, end) => {
        attempts.push({
          startedAt: attempt.startedAt,
          endedAt: end.endedAt,
          status: end.status,
          // What never left this machine, nobody can have counted or billed.
          outcome: end.isSent ? end.outcome : 'not_sent',
          serviceRequestId: end.requestId ?? null,
        });
      },
    },
  };
}
