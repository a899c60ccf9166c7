import Bottleneck from 'bottleneck';
import { WaitingLine } from './waiting-line.js';

// One Bottleneck job per permit tops out near 430 a second; above this rate a job releases a twentieth of a second's worth.
const maxSinglesPerSecond = 100;
const blocksPerSecond = 20;
// A little slower than the rate: what starts here within a second and nine milliseconds may arrive there within a second.
const spacingMs = 1_009;
// Enough that the next block's time is fixed before this one's has come, and no more: a lowered rate must take effect at once.
const maxBlocksOrdered = 2;
// The first requests arrive late, close to those after them, while connections are made: the first second goes a tenth slower.
const coldFactor = 1.1;
const coldMs = 1_000;
// A block that is so late does not come at all.
const overdueMs = 1_000;
// What a busy machine has delayed is made up for at twice the pace, but not more than this.
const maxLagMs = 200;
const catchUpFactor = 0.5;

/** Gives out permits to start at an even pace, at the rate that `perSecond` says at that instant. */
export class Permits {
  readonly #perSecond: () => number;
  #bottleneck = new Bottleneck();
  readonly #line = new WaitingLine();
  #spare = 0;
  #permitsOrdered = 0;
  #blocksOrdered = 0;
  #minTimeMs = 0;
  #watchTimer: NodeJS.Timeout | undefined;
  #coldUntilMs: number | undefined;
  /** When the last block that was ordered should come, by an even pace. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: () => number) {
    this.#perSecond = perSecond;
  }

  /** Resolves with one permit; rejects with the signal's reason when aborted earlier, and then no permit is lost. */
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

  /** Lets go of its timers and of what is ordered. */
  close(): void {
    clearTimeout(this.#watchTimer);
    void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
    this.#bottleneck = new Bottleneck();
    this.#minTimeMs = 0;
    this.#blocksOrdered = 0;
    this.#permitsOrdered = 0;
  }

  /** Forgets permits that nobody has taken, so that they are no burst later, and begins slowly again. */
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
      // What a given-up Bottleneck still brings is void.
      void bottleneck
        .schedule(async () => bottleneck === this.#bottleneck && this.#release(size))
        .catch(() => undefined);
    }
    this.#watch();
  }

  /** Bottleneck goes by the date: set back an hour, it would bring the next block in an hour. */
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
