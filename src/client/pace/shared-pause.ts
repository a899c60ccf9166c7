import type { Clock } from '../../clock.js';

/** A stretch of time in which nobody may start; it can only grow. */
export class SharedPause {
  readonly #clock: Clock;
  #untilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes the pause last at least `delayMs` from now. */
  extend(delayMs: number): void {
    // The clock cuts off the fraction of a millisecond; one more, so that nothing goes out early.
    this.#untilMs = Math.max(this.#untilMs, this.#clock.now().getTime() + delayMs + 1);
  }

  /** Whether the pause lasts at this instant. */
  isOn(): boolean {
    return this.#leftMs() > 0;
  }

  /** Resolves when the pause is over; rejects with the signal's reason when aborted earlier. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) await this.#clock.sleep(leftMs, signal);
  }

  #leftMs(): number {
    return this.#untilMs - this.#clock.now().getTime();
  }
}
