import { setTimeout as delay } from 'node:timers/promises';
import { WaitingLine } from './signals.js';

/** What an order of permits says; times are milliseconds of the clock that the processes share. */
interface RateOrder {
  /** That clock's time when the permits were ordered. */
  nowMs: number;
  /** When the first request may leave; the others follow it, each `spacingMs` after the one before. Null when none may. */
  firstMs: number | null;
  /** After which time an order may have permits again; 0 where this one has. */
  restMs: number;
  /** How much longer the service wants no call; 0 without a pause. */
  pauseMs: number;
  /** The last refusal for pace that any process has seen; null without one. */
  refusal: {
    /** The rate at which it was refused. */
    perSecond: number;
    /** How long ago. */
    agoMs: number;
  } | null;
}

/** How the permits of an order follow each other. */
interface PermitSpacing {
  /** From one permit to the next. */
  spacingMs: number;
  /** From now to the first one, at least. */
  aheadMs: number;
}

/** The rate of an account where several processes use it together, for example in a database. */
export interface SharedRate {
  /** Orders so many permits. An error ends the calls that wait. */
  order(count: number, spacing: PermitSpacing): Promise<RateOrder>;
  /** Informs the other processes. */
  report(
    news:
      | {
          /** The rate at which the service refused calls as too frequent. */
          refusedPerSecond: number;
        }
      | {
          /** For how long the service wants no call. */
          pauseMs: number;
        },
  ): Promise<void>;
}

/** When a request may leave, by `performance.now()`. */
export interface SendTime {
  fromMs: number;
  untilMs: number;
}

// A request that leaves later than this after its permit's time would add to those of a later second.
const validMs = 20;
// The note of a call in the ledger is written meanwhile.
const leadMs = 25;
// The least time between an order and its first permit, beside the way of the answer.
const noteMs = 10;
// A permit is not ordered for later, however slow the answers are.
const mostAheadMs = 500;
// The times of permits whose order was answered so late are too inexact: the server may be another one now.
const slowMs = 2_000;
// Permits are given out for so long at once, so that their calls are noted together.
const bunchMs = 50;
const tickMs = 5;
// The longest time between two orders during a pause: another process may have reported a longer pause.
const longestRestMs = 1_000;
// Clocks drift apart by less than this share of the time.
const drift = 1e-4;

/** The time between two permits. Whatever is late: no second holds more requests than `perSecond`. */
export const toSpacingMs = (perSecond: number, marginMs: number): number =>
  // As elsewhere, a fraction above one is rounded down.
  (1_000 + validMs + marginMs) / (perSecond < 1 ? perSecond : Math.floor(perSecond));

/** The difference between the shared clock and `performance.now()`, by the fastest of the last answers. */
class SharedClock {
  #offsetMs = 0;
  #roundTripMs = Number.POSITIVE_INFINITY;
  #comparedMs = 0;

  /** Whether the clocks were compared before. */
  get isKnown(): boolean {
    return Number.isFinite(this.#roundTripMs);
  }

  /** How long the fastest answer took. */
  get roundTripMs(): number {
    return this.isKnown ? this.#roundTripMs : 0;
  }

  /** Compares the clocks: the other one showed `nowMs` after `askedMs` and before `answeredMs` of ours. */
  compare(nowMs: number, askedMs: number, answeredMs: number): void {
    const [least, most] = [nowMs - answeredMs, nowMs - askedMs];
    const isCloser = most - least <= this.#roundTripMs + (answeredMs - this.#comparedMs) * drift;
    // A clock was set.
    const isWrong = this.#offsetMs < least || this.#offsetMs > most;
    if (!isCloser && !isWrong) return;
    this.#offsetMs = (least + most) / 2;
    this.#roundTripMs = most - least;
    this.#comparedMs = answeredMs;
  }

  toOurMs(sharedMs: number): number {
    return sharedMs - this.#offsetMs;
  }
}

/**
 * Gives permits that several processes order from one place, each with the time at which one request may leave. Permits that nobody uses in time
 * are void, so that no burst follows a delay.
 */
export class SharedPermits {
  readonly #rate: SharedRate;
  readonly #perSecond: () => number;
  readonly #adopt: (order: RateOrder) => void;
  readonly #marginMs: (perSecond: number) => number;
  readonly #clock = new SharedClock();
  readonly #line = new WaitingLine();
  /** When each permit that is left may be used. */
  #timesMs: number[] = [];
  /** The permits of callers that were admitted and have not run since. */
  #given: number[] = [];
  #isOrdering = false;
  #failure: { error: unknown } | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `adopt` learns what other processes have reported. */
  constructor(
    rate: SharedRate,
    parts: { perSecond: () => number; marginMs: (perSecond: number) => number; adopt: (order: RateOrder) => void },
  ) {
    this.#rate = rate;
    this.#perSecond = parts.perSecond;
    this.#marginMs = parts.marginMs;
    this.#adopt = parts.adopt;
  }

  /** Resolves with a permit shortly before its time. Rejects with the reason of an aborted signal, or with the error of an order. */
  async take(signal: AbortSignal | undefined): Promise<SendTime> {
    const admitted = this.#line.wait(signal);
    this.#giveOut();
    await admitted;
    const fromMs = this.#given.shift();
    if (fromMs === undefined) throw this.#failure?.error;
    return { fromMs, untilMs: fromMs + validMs };
  }

  /** Drops the permits that were ordered before a pause. */
  restart(): void {
    this.#timesMs = [];
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** Gives the permits that are due to those who wait, orders more, and comes again while others wait. */
  #giveOut(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    this.#timesMs = this.#timesMs.filter((timeMs) => timeMs + validMs > nowMs);
    const [firstMs = Number.POSITIVE_INFINITY] = this.#timesMs;
    const untilMs = firstMs - leadMs > nowMs ? nowMs : nowMs + leadMs + bunchMs;
    while (this.#line.length > 0) {
      const [timeMs] = this.#timesMs;
      if (timeMs === undefined || timeMs > untilMs) break;
      this.#timesMs.shift();
      this.#given.push(timeMs);
      this.#line.admitNext();
    }
    const missing = this.#line.length - this.#timesMs.length;
    if (missing > 0) this.#orderWhenFew(missing);
    const [nextMs] = this.#timesMs;
    if (this.#line.length === 0 || nextMs === undefined) return;
    this.#timer = setTimeout(() => this.#giveOut(), Math.max(tickMs, nextMs - leadMs - nowMs));
  }

  /** Orders when half of a block or less is left: an order for each call would cost as much as its note. */
  #orderWhenFew(missing: number): void {
    const block = Math.max(1, Math.ceil(this.#perSecond() / 20));
    if (this.#isOrdering || this.#timesMs.length > block / 2) return;
    this.#isOrdering = true;
    void this.#order(Math.min(block, missing))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isOrdering = false;
        this.#giveOut();
      });
  }

  async #order(count: number): Promise<void> {
    const perSecond = this.#perSecond();
    const spacingMs = toSpacingMs(perSecond, this.#marginMs(perSecond));
    const isFirst = !this.#clock.isKnown;
    const aheadMs = Math.min(this.#clock.roundTripMs, mostAheadMs) + noteMs;
    const askedMs = performance.now();
    // The first answer waits for a connection, and only compares the clocks.
    const order = await this.#rate.order(isFirst ? 0 : count, { spacingMs, aheadMs });
    this.#clock.compare(order.nowMs, askedMs, performance.now());
    this.#adopt(order);
    const { firstMs, restMs } = order;
    if (isFirst || performance.now() - askedMs > slowMs) return;
    if (firstMs === null) return void (await delay(Math.min(restMs, longestRestMs), undefined, { ref: false }));
    const firstOfOursMs = this.#clock.toOurMs(firstMs);
    for (let place = 0; place < count; place += 1) this.#timesMs.push(firstOfOursMs + place * spacingMs);
  }

  /** Ends the calls that wait; the next one orders again. */
  #fail(error: unknown): void {
    this.#failure = { error };
    while (this.#line.admitNext());
  }
}
