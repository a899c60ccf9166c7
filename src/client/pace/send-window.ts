/**
 * Counts what was sent within the last `windowMs`, so that no such window ever holds more than `size`; times are milliseconds that only
 * grow. A place is taken before sending and counts from then on, because a request may leave late (while a connection is made).
 */
export class SendWindow {
  readonly #sentMs: number[] = [];
  readonly #size: number;
  readonly #windowMs: number;
  #oldest = 0;
  #kept = 0;
  #unsent = 0;

  constructor(size: number, windowMs: number) {
    this.#size = size;
    this.#windowMs = windowMs;
  }

  /** Milliseconds until one more fits: 0 now, infinite while all places are taken by what has not been sent yet. */
  waitMs(nowMs: number): number {
    this.#forget(nowMs);
    if (this.#kept + this.#unsent < this.#size) return 0;
    const oldestMs = this.#kept === 0 ? undefined : this.#sentMs[this.#oldest];
    return oldestMs === undefined ? Number.POSITIVE_INFINITY : oldestMs + this.#windowMs - nowMs;
  }

  /** Takes a place; it is given back by exactly one of `noteSent` and `giveBack`. */
  take(): void {
    this.#unsent += 1;
  }

  /** A request that had a place leaves now. */
  noteSent(nowMs: number): void {
    this.#unsent -= 1;
    this.#sentMs[(this.#oldest + this.#kept) % this.#size] = nowMs;
    this.#kept += 1;
  }

  /** A request that had a place will never leave. */
  giveBack(): void {
    this.#unsent -= 1;
  }

  #forget(nowMs: number): void {
    while (this.#kept > 0 && (this.#sentMs[this.#oldest] ?? 0) + this.#windowMs <= nowMs) {
      this.#oldest = (this.#oldest + 1) % this.#size;
      this.#kept -= 1;
    }
  }
}
