import { type Clock, systemClock } from '../../clock.js';
import { Permits } from './permits.js';
import { SharedPause } from './shared-pause.js';
import { StartRing } from './start-ring.js';
import { WaitingLine } from './waiting-line.js';

// Five milliseconds above a second: what starts here in one second must not arrive there in less.
const windowMs = 1_005;

/** The pace that all callers of one client share. */
export interface LimiterSettings {
  /** Starts in any sliding second; a fraction above one is rounded down. */
  perSecond: number;
  /** Tasks under way at the same time. */
  concurrency: number;
  clock: Clock;
}

/** One pace for everybody: rate, concurrency and a pause that holds all callers. */
export class Limiter {
  readonly #permits: Permits;
  readonly #ring: StartRing;
  readonly #pause: SharedPause;
  readonly #line = new WaitingLine();
  #freeSlots: number;

  constructor(settings: LimiterSettings) {
    this.#permits = new Permits(settings.perSecond);
    this.#ring = new StartRing(Math.max(1, Math.floor(settings.perSecond)), windowMs);
    this.#pause = new SharedPause(settings.clock);
    this.#freeSlots = settings.concurrency;
  }

  /** Runs `task` when slot, pace and pause allow; rejects with the signal's reason when aborted before it starts. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#takeSlot(signal);
    try {
      await this.#awaitPermit(signal);
      while (!this.#isOpen()) {
        // A permit that came during a pause is void: kept, all of them would be used in the pause's last instant.
        if (this.#pause.isOn()) await this.#awaitPermit(signal);
        else await systemClock.sleep(this.#windowWaitMs(), signal);
      }
      signal?.throwIfAborted();
      // No await between look, note and start: two callers could take the same place, or start later than noted.
      this.#ring.note(performance.now());
      return await task();
    } finally {
      if (!this.#line.admitNext()) this.#freeSlots += 1;
    }
  }

  /** Lets nothing start for `delayMs` from now; a longer pause already set stays. */
  pauseFor(delayMs: number): void {
    this.#pause.extend(delayMs);
    this.#permits.restart();
  }

  async #takeSlot(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#freeSlots === 0) return this.#line.wait(signal);
    this.#freeSlots -= 1;
  }

  async #awaitPermit(signal: AbortSignal | undefined): Promise<void> {
    await this.#pause.wait(signal);
    await this.#permits.take(signal);
  }

  #isOpen(): boolean {
    return !this.#pause.isOn() && this.#windowWaitMs() === 0;
  }

  // The window is physical time, whatever clock the caller plays with.
  #windowWaitMs(): number {
    return Math.ceil(this.#ring.waitMs(performance.now()));
  }
}
