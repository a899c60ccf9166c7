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

// One Bottleneck job per permit reaches about 430 a second; above this rate a job releases a twentieth of a second's permits.
const maxSinglesPerSecond = 100;
const blocksPerSecond = 20;
// A little slower than the rate: starts within 1,009 ms here may arrive within a second there.
const spacingMs = 1_009;
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

/** Gives permits to start at an even pace, at the current rate `perSecond`. */
class Permits {
  readonly #perSecond: () => number;
  #bottleneck = new Bottleneck();
  readonly #line = new WaitingLine();
  #spare = 0;
  #permitsOrdered = 0;
  #blocksOrdered = 0;
  #minTimeMs = 0;
  #watchTimer: NodeJS.Timeout | undefined;
  #coldUntilMs: number | undefined;
  /** When the last ordered block should come, at an even pace. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: () => number) {
    this.#perSecond = perSecond;
  }

  /** Resolves with one permit; rejects with the reason of an aborted signal, and then no permit is lost. */
  async take(signal: AbortSignal | undefined): Promise<void> {
    if (this.#spare > 0) {
      this.#spare -= 1;
      return;
    }
    const isIdle = this.#line.length === 0 && this.#blocksOrdered === 0;
    if (isIdle) this.#dueMs = performance.now();
    const admitted = this.#line.wait(signal);
    this.#orderBlocks();
    await admitted;
  }

  /** Stops its timers and drops the ordered blocks. */
  close(): void {
    clearTimeout(this.#watchTimer);
    void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
    this.#bottleneck = new Bottleneck();
    this.#minTimeMs = 0;
    this.#blocksOrdered = 0;
    this.#permitsOrdered = 0;
  }

  /** Drops permits that were not taken, so that no burst follows, and starts slowly again. */
  restart(): void {
    this.#spare = 0;
    this.#coldUntilMs = undefined;
    this.#dueMs = performance.now();
  }

  #orderBlocks(): void {
    while (this.#permitsOrdered < this.#line.length && this.#blocksOrdered < maxBlocksOrdered) {
      const perSecond = this.#perSecond();
      const size = perSecond > maxSinglesPerSecond ? Math.ceil(perSecond / blocksPerSecond) : 1;
      this.#space((spacingMs * size * this.#coldFactor()) / perSecond);
      this.#permitsOrdered += size;
      this.#blocksOrdered += 1;
      const bottleneck = this.#bottleneck;
      // A block from a replaced Bottleneck is void.
      void bottleneck
        .schedule(async () => bottleneck === this.#bottleneck && this.#release(size))
        .catch(() => undefined);
    }
    this.#watch();
  }

  /** Bottleneck follows the system clock: set back an hour, it would bring the next block in an hour. */
  #watch(): void {
    clearTimeout(this.#watchTimer);
    if (this.#blocksOrdered === 0) return;
    this.#watchTimer = setTimeout(
      () => {
        this.close();
        this.#orderBlocks();
      },
      this.#minTimeMs * maxBlocksOrdered + overdueMs,
    );
  }

  #space(intervalMs: number): void {
    const nowMs = performance.now();
    this.#dueMs = Math.max(this.#dueMs + intervalMs, nowMs - maxLagMs);
    const minTimeMs = this.#dueMs < nowMs ? intervalMs * catchUpFactor : intervalMs;
    if (minTimeMs === this.#minTimeMs) return;
    this.#minTimeMs = minTimeMs;
    void this.#bottleneck.updateSettings({ minTime: minTimeMs });
  }

  #coldFactor(): number {
    return this.#coldUntilMs === undefined || performance.now() < this.#coldUntilMs ? coldFactor : 1;
  }

  #release(size: number): void {
    this.#coldUntilMs ??= performance.now() + coldMs;
    this.#permitsOrdered -= size;
    this.#blocksOrdered -= 1;
    let permits = size;
    while (permits > 0 && this.#line.admitNext()) permits -= 1;
    this.#spare = Math.min(this.#spare + permits, size);
    this.#orderBlocks();
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

/** A period in which no request may start; it can only grow. */
class SharedPause {
  readonly #clock: Clock;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes the pause last at least `delayMs` from now. */
  extend(delayMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#clock.elapsedMs() + delayMs);
  }

  /** Milliseconds until it is over; 0 when it is. */
  leftMs(): number {
    if (this.#untilMs === Number.NEGATIVE_INFINITY) return 0;
    return Math.max(0, this.#untilMs - this.#clock.elapsedMs());
  }

  /** Resolves when the pause is over; rejects with the reason of an aborted signal. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.leftMs(); leftMs > 0; leftMs = this.leftMs()) {
      await this.#clock.sleep(Math.ceil(leftMs), signal);
    }
  }
}

// Eight milliseconds above a second: the requests of one second here must not arrive there in less.
const windowMs = 1_008;
// How soon to look again while requests that still connect hold all places.
const unsentLookMs = 20;

/** Decides when the next request may leave: evenly spaced, never too many in a sliding second, not during a pause. */
export class Tempo {
  readonly #clock: Clock;
  readonly #permits: Permits;
  readonly #window: SendWindow;
  readonly #pause: SharedPause;
  #rate: AdaptiveRate;

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#rate = startAdaptiveRate(perSecond);
    this.#permits = new Permits(() => this.perSecond);
    this.#window = new SendWindow(Math.max(1, Math.floor(perSecond)), windowMs);
    this.#pause = new SharedPause(clock);
  }

  /** The current rate per second, as far as the service tolerates it. */
  get perSecond(): number {
    return computeRate(this.#rate, this.#clock.elapsedMs());
  }

  /** Waits for a place for one request and takes it; rejects with the reason of an aborted signal. */
  async awaitPlace(signal: AbortSignal | undefined): Promise<void> {
    await this.#awaitPermit(signal);
    for (;;) {
      // No await between check and take: two callers could take the same place.
      const waitMs = this.#window.waitMs(performance.now());
      if (this.isPaused) {
        // A permit from before a pause is void: otherwise all of them would be used at the end of the pause.
        await this.#awaitPermit(signal);
      } else if (waitMs > 0) {
        // The window is physical time, also with a clock of the caller's own.
        await systemClock.sleep(Number.isFinite(waitMs) ? Math.ceil(waitMs) : unsentLookMs, signal);
      } else {
        signal?.throwIfAborted();
        return this.#window.take();
      }
    }
  }

  /** Whether nothing may leave now. */
  get isPaused(): boolean {
    return this.#pause.leftMs() > 0;
  }

  close(): void {
    this.#permits.close();
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
    this.#pause.extend(pauseMs);
    this.#permits.restart();
  }

  /** The service refused a request sent at `sentMs` for pace; true when that lowers the rate. */
  slowDown(sentMs: number): boolean {
    const before = this.#rate;
    this.#rate = lowerRate(before, sentMs, this.#clock.elapsedMs());
    return this.#rate !== before;
  }

  async #awaitPermit(signal: AbortSignal | undefined): Promise<void> {
    await this.#pause.wait(signal);
    await this.#permits.take(signal);
  }
}
