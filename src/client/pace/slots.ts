import { WaitingLine } from './waiting-line.js';

/** A number of places to work in at the same time, handed on in the order of asking, but first to those who begin again. */
export class Slots {
  readonly #newcomers = new WaitingLine();
  readonly #repeaters = new WaitingLine();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a place; rejects with the signal's reason when aborted earlier. */
  async take(signal: AbortSignal | undefined, isRepeat: boolean): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free === 0) return (isRepeat ? this.#repeaters : this.#newcomers).wait(signal);
    this.#free -= 1;
  }

  /** Gives a place back. */
  free(): void {
    if (!this.#repeaters.admitNext() && !this.#newcomers.admitNext()) this.#free += 1;
  }
}
