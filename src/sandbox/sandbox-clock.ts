const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The sandbox's clock: real time plus the time by which it was advanced, so that cooldowns and expiry need no waiting. */
export class SandboxClock {
  #aheadMs = 0;
  #shownMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #agenda: { atMs: number; act: () => void }[] = [];

  /** Milliseconds since 1970. */
  nowMs(): number {
    return this.#shownMs ?? this.#readMs();
  }

  /** Advances the clock and does what is due by then; throws for a negative or invalid `ms`, because time never runs back. */
  advance(ms: number): void {
    if (!(ms >= 0) || !Number.isFinite(ms)) throw new Error('the clock can only be moved ahead');
    this.#aheadMs += ms;
    this.catchUp();
  }

  /** Does `act` when the clock shows `atMs`; `act` sees that time, however late it runs. */
  at(atMs: number, act: () => void): void {
    const place = this.#agenda.findLastIndex((earlier) => earlier.atMs <= atMs) + 1;
    this.#agenda.splice(place, 0, { atMs, act });
    if (place === 0 && this.#shownMs === undefined) this.#setTimer();
  }

  catchUp(): void {
    // A running act must not start others.
    if (this.#shownMs !== undefined || this.#agenda[0] === undefined) return;
    try {
      for (let [next] = this.#agenda; next && next.atMs <= this.#readMs(); [next] = this.#agenda) {
        this.#agenda.shift();
        this.#shownMs = next.atMs;
        next.act();
      }
    } finally {
      this.#shownMs = undefined;
      this.#setTimer();
    }
  }

  /** Drops all future acts. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#agenda = [];
  }

  #readMs(): number {
    return Date.now() + this.#aheadMs;
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const [next] = this.#agenda;
    if (!next) return;
    const waitMs = Math.max(next.atMs - this.#readMs(), 0);
    this.#timer = setTimeout(() => this.catchUp(), Math.min(waitMs, LONGEST_TIMER_MS));
    this.#timer.unref();
  }
}
