import { type Clock, systemClock } from '../../clock.js';
import { type AdaptiveRate, computeRate, lowerRate, startAdaptiveRate } from './adaptive-rate.js';
import { Permits } from './permits.js';
import { SendWindow } from './send-window.js';
import { SharedPause } from './shared-pause.js';

// Eight milliseconds above a second: what is sent here in one second must not arrive there in less.
const windowMs = 1_008;
// How soon to look again while every place is taken by requests whose connection is still being made.
const unsentLookMs = 20;

/** When the next request may leave: evenly spaced, never too many in a sliding second, and not during a pause. */
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

  /** The present rate per second, as far as the service has tolerated it. */
  get perSecond(): number {
    return computeRate(this.#rate, this.#clock.elapsedMs());
  }

  /** Waits for a place to send one request from and takes it; rejects with the signal's reason when aborted earlier. */
  async awaitPlace(signal: AbortSignal | undefined): Promise<void> {
    await this.#awaitPermit(signal);
    for (;;) {
      // No await between look and take: two callers could take the same place.
      const waitMs = this.#window.waitMs(performance.now());
      if (this.isPaused) {
        // A permit that came before a pause is void: kept, all of them would be used in the pause's last instant.
        await this.#awaitPermit(signal);
      } else if (waitMs > 0) {
        // The window is physical time, whatever clock the caller plays with.
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

  /** Lets go of its timers. */
  close(): void {
    this.#permits.close();
  }

  /** A request that has a place leaves now. */
  noteSent(): void {
    this.#window.noteSent(performance.now());
  }

  /** A request that has a place will not leave. */
  giveBack(): void {
    this.#window.giveBack();
  }

  /** Lets nothing leave for `pauseMs` from now; a longer pause already set stays. */
  pauseFor(pauseMs: number): void {
    this.#pause.extend(pauseMs);
    this.#permits.restart();
  }

  /** The service refused, for pace, a request sent at `sentMs`; true when that lowered the rate. */
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
