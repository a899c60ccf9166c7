import Bottleneck from 'bottleneck';
import { WaitingLine } from './waiting-line.js';

// One Bottleneck job per permit tops out near 430 a second; above this rate a job releases a twentieth of a second's worth.
const maxSinglesPerSecond = 100;
const blocksPerSecond = 20;
// A hundredth slower than the rate: timers are late by a little, and the next ones must not make up for it within a window.
const spacingMs = 1_010;
// Requests that wait for a new connection arrive late, close to those after them: the first second goes a tenth slower.
const coldFactor = 1.1;
const coldMs = 1_000;

/** Gives out permits to start at an even pace. */
export class Permits {
  readonly #bottleneck: Bottleneck;
  readonly #blockSize: number;
  readonly #blockMs: number;
  readonly #line = new WaitingLine();
  #spare = 0;
  #blocksOrdered = 0;
  #coldUntilMs: number | undefined;

  constructor(perSecond: number) {
    this.#blockSize = perSecond > maxSinglesPerSecond ? Math.ceil(perSecond / blocksPerSecond) : 1;
    this.#blockMs = (spacingMs * this.#blockSize) / perSecond;
    this.#bottleneck = new Bottleneck({ minTime: this.#blockMs * coldFactor });
  }

  /** Resolves with one permit; rejects with the signal's reason when aborted earlier, and then no permit is lost. */
  async take(signal: AbortSignal | undefined): Promise<void> {
    if (this.#spare > 0) {
      this.#spare -= 1;
      return;
    }
    const admitted = this.#line.wait(signal);
    this.#orderBlocks();
    await admitted;
  }

  /** Forgets permits that nobody has taken, so that they are no burst later, and goes slower for the next second. */
  restart(): void {
    this.#spare = 0;
    this.#coldUntilMs = undefined;
    this.#bottleneck.updateSettings({ minTime: this.#blockMs * coldFactor });
  }

  #orderBlocks(): void {
    while (this.#blocksOrdered * this.#blockSize < this.#line.length) {
      this.#blocksOrdered += 1;
      void this.#bottleneck.schedule(async () => this.#release());
    }
  }

  #release(): void {
    this.#blocksOrdered -= 1;
    this.#warmUp(performance.now());
    let permits = this.#blockSize;
    while (permits > 0 && this.#line.admitNext()) permits -= 1;
    this.#spare = Math.min(this.#spare + permits, this.#blockSize);
  }

  #warmUp(nowMs: number): void {
    this.#coldUntilMs ??= nowMs + coldMs;
    if (nowMs < this.#coldUntilMs || this.#coldUntilMs === Number.NEGATIVE_INFINITY) return;
    this.#coldUntilMs = Number.NEGATIVE_INFINITY;
    this.#bottleneck.updateSettings({ minTime: this.#blockMs });
  }
}
