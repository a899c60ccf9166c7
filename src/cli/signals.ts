import { exitCodes } from './exit-code.js';
import { InterruptedError } from './interrupted-error.js';

const endingSignals = ['SIGINT', 'SIGTERM'] as const;

/** Turns the first SIGINT or SIGTERM into an abort, said by `tell`; the second ends the process at once with exit code 4. */
export function listenForSignals(tell: (signal: string) => void): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.stopped);
    tell(name);
    controller.abort(new InterruptedError(name));
  };
  for (const name of endingSignals) process.on(name, listen);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of endingSignals) process.off(name, listen);
    },
  };
}
