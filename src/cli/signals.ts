import { exitCodes } from './exit-code.js';
import { InterruptedError } from './interrupted-error.js';

const endingSignals = ['SIGINT', 'SIGTERM'] as const;
/** Answers may arrive for five seconds; what is then still being written is rolled back by the database (PROMISES: 15). */
const longestStopMs = 7_000;

/** What is said while a process is being asked to end. */
export type TellStop = (event: { kind: 'asked'; signal: string } | { kind: 'overdue' }) => void;

/**
 * Turns the first SIGINT or SIGTERM into an abort; the second ends the process at once, and so does a stop that takes longer than 7
 * seconds, both with exit code 4: what was not saved is taken up by the next start.
 */
export function listenForSignals(tell: TellStop): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.stopped);
    tell({ kind: 'asked', signal: name });
    timer = setTimeout(() => {
      tell({ kind: 'overdue' });
      process.exit(exitCodes.stopped);
    }, longestStopMs);
    controller.abort(new InterruptedError(name));
  };
  for (const name of endingSignals) process.on(name, listen);
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      for (const name of endingSignals) process.off(name, listen);
    },
  };
}
