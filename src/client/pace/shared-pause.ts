import type { Clock } from '../../clock.js';

/** A stretch of time in which nobody may start; it can only grow. */
export class SharedPause {
  readonly #clock: Clock;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes the pause last at least `delayMs` from now. */
  extend(delayMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#clock.elapsedMs() + delayMs);
  }

  /** Milliseconds until it is over, 0 when it is. */
  leftMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.elapsedMs());
  }

  /** Resolves when the pause is over; rejects with the signal's reason when aborted earlier. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.leftMs(); leftMs > 0; leftMs = this.leftMs()) {
      await this.#clock.sleep(Math.ceil(leftMs), signal);
    }
  }
}
