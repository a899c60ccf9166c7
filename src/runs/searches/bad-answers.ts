import type { ScreeningOutcome } from '../../screening/screen.js';

const mostAttempts = 3;
// A service that breaks its contract more often than this is not worth the price of asking again; of a few answers that says nothing.
const mostShare = 0.25;
const few = 20;
const mostWaiting = 1_000;

/**
 * Answers that break the interface's contract: each is asked for again, up to three times in all, unless too many are of that kind. They
 * say nothing about anybody, and the service may have billed every one of them.
 */
export class BadAnswers {
  readonly #waiting = new Map<number, { attempts: number; reason: string }>();
  #answers = 0;
  #bad = 0;
  #again = 0;
  #hasGivenUp = false;

  /** `before` is how often this run has had bad answers to requests that remain. */
  constructor(before: ReadonlyMap<number, number>) {
    for (const [requestId, attempts] of before) this.#waiting.set(requestId, { attempts, reason: 'bad_response' });
  }

  /** Notes what came of a search, and says whether it is to be made again. */
  note(requestId: number, outcome: ScreeningOutcome): boolean {
    const isBad = outcome.kind === 'failed' && outcome.isBadAnswer;
    if (isBad || outcome.kind === 'screened') this.#answers += 1;
    if (!isBad) {
      if (outcome.kind === 'screened') this.#waiting.delete(requestId);
      return false;
    }
    this.#bad += 1;
    const attempts = (this.#waiting.get(requestId)?.attempts ?? 0) + 1;
    const isHopeless = this.#hasGivenUp || (this.#waiting.size > mostWaiting && this.isTooMany);
    if (isHopeless || attempts >= mostAttempts) {
      this.#waiting.delete(requestId);
      return false;
    }
    this.#waiting.set(requestId, { attempts, reason: outcome.reason });
    this.#again += 1;
    return true;
  }

  /** Whether so many answers are bad that none of them is asked for again. */
  get isTooMany(): boolean {
    return this.#bad > few && this.#bad > this.#answers * mostShare;
  }

  /** How many searches are to be made again since this was last asked. */
  takeAgain(): number {
    const again = this.#again;
    this.#again = 0;
    return again;
  }

  /** From now on no bad answer is asked for again; gives why each request that was to be has no answer, by its id. */
  giveUp(): ReadonlyMap<number, string> {
    this.#hasGivenUp = true;
    const reasons = new Map(Array.from(this.#waiting, ([requestId, { reason }]) => [requestId, reason]));
    this.#waiting.clear();
    return reasons;
  }

  /** In words, how many answers were bad. */
  get words(): string {
    return `${this.#bad} of ${this.#answers} answers broke the contract of the interface`;
  }
}
