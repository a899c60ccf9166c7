/** Remembers the last `size` starts, so that no window of `windowMs` ever holds more of them; times are milliseconds that only grow. */
export class StartRing {
  readonly #startsMs: number[] = [];
  readonly #size: number;
  readonly #windowMs: number;
  #oldest = 0;

  constructor(size: number, windowMs: number) {
    this.#size = size;
    this.#windowMs = windowMs;
  }

  /** Milliseconds until one more start fits, 0 when it fits now. */
  waitMs(nowMs: number): number {
    const oldestMs = this.#startsMs.length < this.#size ? undefined : this.#startsMs[this.#oldest];
    return oldestMs === undefined ? 0 : Math.max(0, oldestMs + this.#windowMs - nowMs);
  }

  /** Notes a start. */
  note(nowMs: number): void {
    this.#startsMs[this.#oldest] = nowMs;
    this.#oldest = (this.#oldest + 1) % this.#size;
  }
}
