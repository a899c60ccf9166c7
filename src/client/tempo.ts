import Bottleneck from 'bottleneck';
import { type Clock, systemClock } from '../clock.js';
import { type SendTime, SharedPermits, type SharedRate } from './shared-permits.js';
import { WaitingLine } from './signals.js';

// So often permits are given out: Bottleneck manages about 430 jobs a second, so a job releases all that are due by then.
const tickMs = 10;
// A tick that is this late does not come at all: Bottleneck follows the system clock, which may be set back an hour.
const overdueMs = 1_000;
// A delay by a busy machine is made up for, up to this much.
const maxLagMs = 200;
// No more are admitted together than are due in this time.
const burstMs = 50;
// A little slower than the rate: what is sent within a second and these milliseconds may arrive within one.
const marginMs = 9;
// Above this rate arrivals vary more, and a tenth of it is left unused. The service allows accounts up to 1,000 calls a second.
const maxPromised = 1_000;
const wideMarginMs = 100;

/** By how much longer than a second a second's requests take. */
export const toMarginMs = (perSecond: number): number => (perSecond > maxPromised ? wideMarginMs : marginMs);

// The first requests wait for connections and arrive close to later ones: the first second is a tenth slower.
const coldFactor = 1.1;
const coldMs = 1_000;

/** Gives permits to start at an even pace, at the current rate `perSecond`, to the callers of one process. */
class OwnPermits {
  readonly #perSecond: () => number;
  readonly #line = new WaitingLine();
  #bottleneck = new Bottleneck({ minTime: tickMs });
  #overdueTimer: NodeJS.Timeout | undefined;
  #due = 1;
  #lastMs = performance.now();
  #coldUntilMs: number | undefined;

  constructor(perSecond: () => number) {
    this.#perSecond = perSecond;
  }

  /** Resolves with one permit; rejects with the reason of an aborted signal, and then no permit is lost. */
  async take(signal: AbortSignal | undefined): Promise<SendTime> {
    const admitted = this.#line.wait(signal);
    if (this.#overdueTimer === undefined) this.#release(tickMs);
    await admitted;
    return { fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY };
  }

  /** Stops its timers. */
  close(): void {
    clearTimeout(this.#overdueTimer);
    this.#overdueTimer = undefined;
    void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
    this.#bottleneck = new Bottleneck({ minTime: tickMs });
  }

  /** Drops permits that were not taken, so that no burst follows, and starts slowly again. */
  restart(): void {
    this.#due = 0;
    this.#lastMs = performance.now();
    this.#coldUntilMs = undefined;
  }

  /** Admits callers as they have become due, at most what is due in `lagMs`, and comes again while others wait. */
  #release(lagMs: number): void {
    clearTimeout(this.#overdueTimer);
    this.#overdueTimer = undefined;
    const nowMs = performance.now();
    const perSecond = this.#perSecond();
    this.#coldUntilMs ??= nowMs + coldMs;
    const secondMs = (1_000 + toMarginMs(perSecond)) * (nowMs < this.#coldUntilMs ? coldFactor : 1);
    const most = 1 + (perSecond * lagMs) / 1_000;
    this.#due = Math.min(this.#due + ((nowMs - this.#lastMs) * perSecond) / secondMs, most);
    this.#lastMs = nowMs;
    const mostAtOnce = Math.max(1, (perSecond * burstMs) / 1_000);
    for (let admitted = 1; admitted <= mostAtOnce && this.#due >= 1 && this.#line.admitNext(); admitted += 1) {
      this.#due -= 1;
    }
    if (this.#line.length > 0) this.#comeAgain();
  }

  #comeAgain(): void {
    const bottleneck = this.#bottleneck;
    this.#overdueTimer = setTimeout(() => {
      this.close();
      this.#release(maxLagMs);
    }, tickMs + overdueMs);
    // A tick of a replaced Bottleneck is void.
    void bottleneck
      .schedule(async () => bottleneck === this.#bottleneck && this.#release(maxLagMs))
      .catch(() => undefined);
  }
}

/**
 * Counts the requests of the last `windowMs`, so that no such window holds more than `size`; times are monotonic milliseconds. A place is taken
 * before sending and counts from then on, because a request may leave late (while a connection is made).
 */
export class SendWindow {
  readonly #size: number;
  readonly #windowMs: number;
  #sentMs: number[] = [];
  /** The requests in `#sentMs` that are out of the window by now. */
  #past = 0;
  #unsent = 0;

  constructor(size: number, windowMs: number) {
    this.#size = size;
    this.#windowMs = windowMs;
  }

  /** Milliseconds until one more fits: 0 for now, infinite while unsent requests hold all places. */
  waitMs(nowMs: number): number {
    while ((this.#sentMs[this.#past] ?? Number.POSITIVE_INFINITY) + this.#windowMs <= nowMs) this.#past += 1;
    if (this.#past > this.#size) {
      this.#sentMs = this.#sentMs.slice(this.#past);
      this.#past = 0;
    }
    if (this.#sentMs.length - this.#past + this.#unsent < this.#size) return 0;
    return (this.#sentMs[this.#past] ?? Number.POSITIVE_INFINITY) + this.#windowMs - nowMs;
  }

  /** Takes a place; exactly one of `noteSent` and `giveBack` returns it. */
  take(): void {
    this.#unsent += 1;
  }

  /** A request with a place leaves now. */
  noteSent(nowMs: number): void {
    this.#unsent -= 1;
    this.#sentMs.push(nowMs);
  }

  /** A request with a place will never leave. */
  giveBack(): void {
    this.#unsent -= 1;
  }
}

/** A rate that follows what the service tolerates, with its last refusal; times are monotonic milliseconds. */
export interface AdaptiveRate {
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

// A refusal that another process has reported counts when it is so much later than the own one.
const adoptedAfterMs = 1_000;
// How soon to look again while requests that still connect hold all places.
const unsentLookMs = 20;

/** Decides when the next request may leave: evenly spaced, never too many in a sliding second, not during a pause. */
export class Tempo {
  readonly #clock: Clock;
  #permits: OwnPermits | SharedPermits;
  #shared: SharedRate | null = null;
  readonly #window: SendWindow;
  #rate: AdaptiveRate;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#rate = startAdaptiveRate(perSecond);
    this.#permits = new OwnPermits(() => this.perSecond);
    this.#window = new SendWindow(Math.max(1, Math.floor(perSecond)), 1_000 + toMarginMs(perSecond) - 1);
  }

  /** The current rate per second, as far as the service tolerates it. */
  get perSecond(): number {
    return computeRate(this.#rate, this.#clock.elapsedMs());
  }

  /** Waits for a place for one request and takes it; rejects with the reason of an aborted signal. */
  async awaitPlace(signal: AbortSignal | undefined): Promise<SendTime> {
    let place = await this.#awaitPermit(signal);
    for (;;) {
      // No await between check and take: two callers could take the same place.
      const waitMs = this.#window.waitMs(performance.now());
      if (this.isPaused) {
        // A permit from before a pause is void: otherwise all of them would be used at the end of the pause.
        place = await this.#awaitPermit(signal);
      } else if (waitMs > 0) {
        // The window is physical time, also with a clock of the caller's own.
        await systemClock.sleep(Number.isFinite(waitMs) ? Math.ceil(waitMs) : unsentLookMs, signal);
      } else {
        signal?.throwIfAborted();
        this.#window.take();
        return place;
      }
    }
  }

  /** Whether nothing may leave now. */
  get isPaused(): boolean {
    return this.#clock.elapsedMs() < this.#pausedUntilMs;
  }

  close(): void {
    this.#permits.close();
  }

  /** From now on other processes use the rate as well; `onPause` learns of a pause that one of them has seen. */
  share(rate: SharedRate, onPause: (pauseMs: number) => void): void {
    if (this.#shared !== null) return;
    this.#shared = rate;
    this.#permits = new SharedPermits(rate, {
      perSecond: () => this.perSecond,
      marginMs: toMarginMs,
      adopt: ({ refusal, pauseMs }) => {
        if (refusal !== null) this.#adoptRefusal(refusal);
        if (pauseMs > 0 && !this.isPaused) {
          this.#pause(pauseMs);
          onPause(pauseMs);
        }
      },
    });
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
    this.#pause(pauseMs);
    this.#report({ pauseMs });
  }

  #pause(pauseMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.elapsedMs() + pauseMs);
    this.#permits.restart();
  }

  /** The service refused a request sent at `sentMs` for pace; true when that lowers the rate. */
  slowDown(sentMs: number): boolean {
    const before = this.#rate;
    this.#rate = lowerRate(before, sentMs, this.#clock.elapsedMs());
    const { refusal } = this.#rate;
    if (this.#rate === before || refusal === null) return false;
    this.#report({ refusedPerSecond: refusal.perSecond });
    return true;
  }

  /** Lowers the rate as the process has that was refused last. */
  #adoptRefusal({ perSecond, agoMs }: { perSecond: number; agoMs: number }): void {
    const atMs = this.#clock.elapsedMs() - agoMs;
    const own = this.#rate.refusal;
    // What comes back of an own refusal is up to a round trip younger.
    if (own === null || atMs > own.atMs + adoptedAfterMs) {
      this.#rate = { ceiling: this.#rate.ceiling, refusal: { perSecond, atMs } };
    }
  }

  /** Informs the other processes. A lost report costs a refusal more: each of them is refused as well. */
  #report(news: Parameters<SharedRate['report']>[0]): void {
    this.#shared?.report(news).catch(() => undefined);
  }

  async #awaitPermit(signal: AbortSignal | undefined): Promise<SendTime> {
    while (this.isPaused) {
      await this.#clock.sleep(Math.ceil(this.#pausedUntilMs - this.#clock.elapsedMs()), signal);
    }
    return this.#permits.take(signal);
  }
}
