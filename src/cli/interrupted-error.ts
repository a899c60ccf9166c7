import { NightscreenError } from '../errors.js';

/** A signal asked the process to end; `signal` is its name. */
export class InterruptedError extends NightscreenError {
  readonly signal: string;

  constructor(signal: string) {
    super('interrupted', `stopped by ${signal}`);
    this.signal = signal;
  }
}
