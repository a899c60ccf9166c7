interface Sample {
  atMs: number;
  count: number;
}

/** How fast a counter has grown of late. */
export class SlidingRate {
  readonly #windowMs: number;
  readonly #spacingMs: number;
  #samples: Sample[] = [];

  /** Looks back over `windowMs`. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#spacingMs = windowMs / 100;
  }

  /** Notes the counter at an instant. */
  note(atMs: number, count: number): void {
    const last = this.#samples.at(-1);
    const isClose = this.#samples.length > 1 && last !== undefined && atMs - last.atMs < this.#spacingMs;
    if (isClose) last.count = count;
    else this.#samples.push({ atMs, count });
    // The newest one that lies outside stays: it says where the counter stood when the window began.
    const firstInside = this.#samples.findIndex((sample) => sample.atMs > atMs - this.#windowMs);
    if (firstInside > 1) this.#samples = this.#samples.slice(firstInside - 1);
  }

  /** Growth per second over the window that ends at this instant, or since the first sample when that is shorter. */
  perSecond(nowMs: number): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return 0;
    const beginMs = nowMs - this.#windowMs;
    const start = this.#samples.findLast((sample) => sample.atMs <= beginMs) ?? first;
    const spanMs = nowMs - Math.max(start.atMs, beginMs);
    return spanMs <= 0 ? 0 : ((last.count - start.count) * 1_000) / spanMs;
  }
}
