import type { RunEvent } from '../run-event.js';

const slowMs = 2_000;

/** Tells when a write takes longer than two seconds, and when none does any more. */
export function watchWrites(tell: (event: RunEvent) => void): <T>(write: Promise<T>) => Promise<T> {
  let slow = 0;
  const change = (by: number): void => {
    const wasSlow = slow > 0;
    slow += by;
    if (wasSlow !== slow > 0) tell({ kind: 'database_wait', isWaiting: slow > 0 });
  };
  return async (write) => {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      change(1);
    }, slowMs);
    try {
      return await write;
    } finally {
      clearTimeout(timer);
      if (isSlow) change(-1);
    }
  };
}
