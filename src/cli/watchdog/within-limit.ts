import { StoreError } from '../../errors.js';

/** A look takes less than a second as a rule; a process that is asked to end has few. */
const graceMs = 2_000;

/**
 * Does work that calls `noteLooked` when the database has said everything; until then it has `limitMs`, and a moment once `signal` is
 * aborted. Throws StoreError (`database_unreachable`) after the limit, and the signal's reason; what hangs is left behind.
 */
export async function withinLimit<Result>(
  limitMs: number,
  signal: AbortSignal,
  work: (noteLooked: () => void) => Promise<Result>,
): Promise<Result> {
  let clear = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    const message = `the database has not answered within ${Math.ceil(limitMs / 1_000)} seconds`;
    const timers = [setTimeout(() => reject(new StoreError('database_unreachable', message)), limitMs)];
    const hurry = (): void => {
      timers.push(setTimeout(() => reject(signal.reason), graceMs));
    };
    if (signal.aborted) hurry();
    else signal.addEventListener('abort', hurry, { once: true });
    clear = () => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', hurry);
    };
  });
  try {
    return await Promise.race([work(clear), tooLate]);
  } finally {
    clear();
  }
}
