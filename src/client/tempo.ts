import Bottleneck from 'bottleneck';
import { type Clock, systemClock } from '../clock.js';
import { onAbort } from './signals.js';

/** Callers that wait in the order of arrival; a signal removes its caller. */
export class WaitingLine {
  readonly #waiters = new Set<() => void>();

  get length(): number {
    return this.#waiters.size;
  }

  /** Resolves when `admitNext` reaches this caller; rejects with the reason of an aborted signal. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave =
        signal &&
        onAbort(signal, () => {
          this.#waiters.delete(admit);
          reject(signal.reason);
        });
      const admit = (): void => {
        this.#waiters.delete(admit);
        leave?.();
        resolve();
      };
      this.#waiters.add(admit);
    });
  }

  /** Admits the first caller; false when none waits. */
  admitNext(): boolean {
    for (const admit of this.#waiters) {
      admit();
      return true;
    }
    return false;
  }
}

/** One timer at a time; it keeps the process alive. */
export class WakeTimer {
  #pending: AbortController | undefined;

  /** Calls `wake` after so many milliseconds of `clock`, unless a timer is set already. */
  set(waitMs: number, clock: Clock, wake: () => void): void {
    if (this.#pending !== undefined) return;
    const pending = new AbortController();
    this.#pending = pending;
    const ring = (): void => {
      if (this.#pending !== pending) return;
      this.#pending = undefined;
      wake();
    };
    clock.sleep(waitMs, pending.signal).then(ring, () => undefined);
  }

  stop(): void {
    this.#pending?.abort();
    this.#pending = undefined;
  }
}

/**
 * Counts the requests of the last `windowMs`, so that no such window holds more than `size`; times are monotonic milliseconds. A place is taken
 * before sending and counts from then on, because a request may leave late (while a connection is made).
 */
export class SendWindow {
  // A plain array would keep a number object for each request, which made collecting garbage seven times as slow.
  readonly #sentMs: Float64Array;
  readonly #size: number;
  readonly #windowMs: number;
  #oldest = 0;
  #kept = 0;
  #unsent = 0;

  constructor(size: number, windowMs: number) {
    this.#sentMs = new Float64Array(size);
    this.#size = size;
    this.#windowMs = windowMs;
  }

  /** Milliseconds until one more fits: 0 for now, infinite while unsent requests hold all places. */
  waitMs(nowMs: number): number {
    this.#forget(nowMs);
    if (this.#kept + this.#unsent < this.#size) return 0;
    const oldestMs = this.#kept === 0 ? undefined : this.#sentMs[this.#oldest];
    return oldestMs === undefined ? Number.POSITIVE_INFINITY : oldestMs + this.#windowMs - nowMs;
  }

  /** Takes a place; exactly one of `noteSent` and `giveBack` returns it. */
  take(): void {
    this.#unsent += 1;
  }

  /** A request with a place leaves now. */
  noteSent(nowMs: number): void {
    this.#unsent -= 1;
    this.#sentMs[(this.#oldest + this.#kept) % this.#size] = nowMs;
    this.#kept += 1;
  }

  /** A request with a place will never leave. */
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

/** A rate that follows what the service tolerates, with its last refusal; times are monotonic milliseconds. */
interface AdaptiveRate {
  /** Never exceeded, per second. */
  readonly ceiling: number;
  /** The last refusal that lowered it; null before the first. */
  readonly refusal: { readonly perSecond: number; readonly atMs: number } | null;
}

/** A refusal lowers the rate to this share. */
const decreaseFactor = 0.8;
/** The curve is flat just below the refused rate: it stays there for long before it tries more. */
const plateauFactor = 0.98;
/** The time back to the plateau; further on the curve is steep (CUBIC, RFC 9438, 4.2). */
const recoveryMs = 15_000;
/** The rate, per second, for a service that refuses everything. */
const floorPerSecond = 0.1;

/** The configured rate, before any refusal. */
export const startAdaptiveRate = (ceiling: number): AdaptiveRate => ({ ceiling, refusal: null });

/** The current rate, per second. */
export const computeRate = ({ ceiling, refusal }: AdaptiveRate, nowMs: number): number => {
  if (refusal === null) return ceiling;
  const fromPlateau = (nowMs - refusal.atMs) / recoveryMs - 1;
  const grown = refusal.perSecond * (plateauFactor + (plateauFactor - decreaseFactor) * fromPlateau ** 3);
  return Math.min(ceiling, Math.max(grown, floorPerSecond));
};

/** The rate after a refusal of a request sent at `sentMs`. Requests that were in flight at the last lowering do not lower it again. */
export const lowerRate = (rate: AdaptiveRate, sentMs: number, nowMs: number): AdaptiveRate =>
  rate.refusal !== null && sentMs < rate.refusal.atMs
    ? rate
    : { ceiling: rate.ceiling, refusal: { perSecond: computeRate(rate, nowMs), atMs: nowMs } };

// One Bottleneck job per permit reaches about 430 a second; above this rate a job releases a twentieth of a second's permits.
const maxSinglesPerSecond = 100;
const blocksPerSecond = 20;
// A little slower than the window allows: a request that is late by a timer is soon on time again.
const spacingMs = 1_008;
// Enough to fix the time of the next block before this one comes, and no more: a lowered rate must take effect at once.
const maxBlocksOrdered = 2;
// The first requests wait for connections and arrive close to later ones: the first second is a tenth slower.
const coldFactor = 1.1;
const coldMs = 1_000;
// A block that is this late does not come at all.
const overdueMs = 1_000;
// A delay by a busy machine is made up for at twice the pace, up to this much.
const maxLagMs = 200;
const catchUpFactor = 0.5;

/** Orders blocks of permits from Bottleneck, which releases them at an even pace. */
class Blocks {
  readonly #release: (permits: number) => void;
  readonly #watch = new WakeTimer();
  #bottleneck = new Bottleneck();
  #ordered = 0;
  #minTimeMs = 0;
  /** Undefined before the first block, and after a pause. */
  #coldUntilMs: number | undefined;
  /** When the last ordered block should come, at an even pace. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(release: (permits: number) => void) {
    this.#release = release;
  }

  /** Orders blocks as far ahead as is good; each gives permits for its share of a second at this rate. */
  order(perSecond: number): void {
    if (this.#ordered === 0) this.#dueMs = performance.now();
    while (this.#ordered < maxBlocksOrdered) {
      const size = perSecond > maxSinglesPerSecond ? Math.ceil(perSecond / blocksPerSecond) : 1;
      this.#space((spacingMs * size * this.#coldFactor()) / perSecond);
      this.#ordered += 1;
      const bottleneck = this.#bottleneck;
      void bottleneck.schedule(async () => this.#grant(bottleneck, size)).catch(() => undefined);
    }
    // Bottleneck follows the system clock: set back an hour, it would bring the next block in an hour.
    this.#watch.set(this.#minTimeMs * maxBlocksOrdered + overdueMs, systemClock, () => {
      this.close();
      this.#release(0);
    });
  }

  /** Starts slowly again. */
  restart(): void {
    this.#coldUntilMs = undefined;
    this.#dueMs = performance.now();
  }

  /** Stops its timers and drops the ordered blocks. */
  close(): void {
    this.#watch.stop();
    void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
    this.#bottleneck = new Bottleneck();
    this.#minTimeMs = 0;
    this.#ordered = 0;
  }

  #grant(bottleneck: Bottleneck, size: number): void {
    // A block from a replaced Bottleneck is void.
    if (bottleneck !== this.#bottleneck) return;
    this.#coldUntilMs ??= performance.now() + coldMs;
    this.#ordered -= 1;
    this.#watch.stop();
    this.#release(size);
  }

  #coldFactor(): number {
    return this.#coldUntilMs === undefined || performance.now() < this.#coldUntilMs ? coldFactor : 1;
  }

  #space(intervalMs: number): void {
    const nowMs = performance.now();
    this.#dueMs = Math.max(this.#dueMs + intervalMs, nowMs - maxLagMs);
    const minTimeMs = this.#dueMs < nowMs ? intervalMs * catchUpFactor : intervalMs;
    if (minTimeMs === this.#minTimeMs) return;
    this.#minTimeMs = minTimeMs;
    void this.#bottleneck.updateSettings({ minTime: minTimeMs });
  }
}

// Five milliseconds above a second: the requests of one second here must not arrive there in less.
const windowMs = 1_005;
// How soon to look again while requests that still connect hold all places.
const unsentLookMs = 20;

/** Decides when the next request may leave: evenly spaced, never too many in a sliding second, not during a pause. */
export class Tempo {
  readonly #clock: Clock;
  readonly #window: SendWindow;
  readonly #line = new WaitingLine();
  readonly #timer = new WakeTimer();
  readonly #blocks = new Blocks((permits) => this.#grant(permits));
  #permits = 0;
  #rate: AdaptiveRate;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#rate = startAdaptiveRate(perSecond);
    this.#window = new SendWindow(Math.max(1, Math.floor(perSecond)), windowMs);
  }

  /** The current rate per second, as far as the service tolerates it. */
  get perSecond(): number {
    return computeRate(this.#rate, this.#clock.elapsedMs());
  }

  /** Takes a place for one request; false when it must wait. */
  tryTakePlace(): boolean {
    if (this.#permits === 0 || this.#line.length > 0 || this.#waitMs() > 0) return false;
    this.#takePlace();
    return true;
  }

  /** Waits for a place for one request and takes it; rejects with the reason of an aborted signal. */
  async awaitPlace(signal: AbortSignal | undefined): Promise<void> {
    const admitted = this.#line.wait(signal);
    this.#admit();
    try {
      await admitted;
    } finally {
      if (this.#line.length === 0) this.#timer.stop();
    }
  }

  /** Whether nothing may leave now. */
  get isPaused(): boolean {
    return this.#pauseLeftMs > 0;
  }

  /**
   * A request with a place leaves now. It counts from when it has been written: a process that is held up in between for longer than the
   * margin of the window would send one too many in a second.
   */
  noteSent(): void {
    queueMicrotask(() => this.#window.noteSent(performance.now()));
  }

  /** A request with a place will not leave. */
  giveBack(): void {
    this.#window.giveBack();
  }

  /** No request leaves for `pauseMs` from now; a longer pause stays. */
  pauseFor(pauseMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.elapsedMs() + pauseMs);
    // Otherwise all permits from before would be used at the end of the pause.
    this.#permits = 0;
    this.#blocks.restart();
  }

  close(): void {
    this.#blocks.close();
  }

  /** The service refused a request sent at `sentMs` for pace; true when that lowers the rate. */
  slowDown(sentMs: number): boolean {
    const before = this.#rate;
    this.#rate = lowerRate(before, sentMs, this.#clock.elapsedMs());
    return this.#rate !== before;
  }

  get #pauseLeftMs(): number {
    return this.#pausedUntilMs === Number.NEGATIVE_INFINITY ? 0 : this.#pausedUntilMs - this.#clock.elapsedMs();
  }

  /** Milliseconds until a request with a permit may leave. */
  #waitMs(): number {
    if (this.isPaused) return this.#pauseLeftMs;
    const waitMs = this.#window.waitMs(performance.now());
    return Number.isFinite(waitMs) ? waitMs : unsentLookMs;
  }

  #takePlace(): void {
    this.#permits -= 1;
    this.#window.take();
  }

  #grant(permits: number): void {
    // Where nobody waits, permits from before are void, so that no burst follows.
    const kept = this.#line.length > 0 ? this.#permits : 0;
    if (!this.isPaused) this.#permits = kept + permits;
    this.#admit();
  }

  #admit(): void {
    while (this.#line.length > 0 && this.#permits > 0 && this.#waitMs() <= 0) {
      this.#takePlace();
      this.#line.admitNext();
    }
    if (this.#line.length === 0) return;
    const waitMs = this.#waitMs();
    // The window is physical time, also with a clock of the caller's own.
    const clock = this.isPaused ? this.#clock : systemClock;
    if (waitMs > 0) this.#timer.set(Math.ceil(waitMs), clock, () => this.#admit());
    // Also while the window is full: blocks that are ordered late come late.
    if (!this.isPaused && this.#permits < this.#line.length) this.#blocks.order(this.perSecond);
  }
}
