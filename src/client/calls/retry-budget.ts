/** What a call adds to the budget: with it a service that fails at random costs at most one and a half calls per search. */
const earnedPerCall = 0.5;
/** There at the beginning: enough for an unlucky start. */
const atStart = 50;
/** Kept at most: what many calls have earned before the first of them comes back from its back-off. */
const capacity = 200;

/** Repeats that the calls so far have earned; whoever finds it empty must not repeat, or failures would multiply the load. */
export class RetryBudget {
  #left = atStart;

  /** A call begins. */
  earn(): void {
    this.#left = Math.min(capacity, this.#left + earnedPerCall);
  }

  /** Takes one repeat; false when there is none left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
