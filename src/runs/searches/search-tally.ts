import type { ScreeningOutcome } from '../../screening/screen.js';
import { RunHalted } from '../session/run-halted.js';

/** How far a run's searches have come, and how many more this start may make. */
export class SearchTally {
  /** Distinct searches of the plan. */
  readonly total: number;
  /** How many of them are answered. */
  done: number;
  /** Since this start: calls that were sent, and what the answers held. */
  calls = 0;
  found = { matches: 0, hits: 0 };
  readonly #limit: number;
  #handedOut = 0;
  #isLimitReached = false;

  constructor(counts: { total: number; done: number }, limit: number | undefined) {
    this.total = counts.total;
    this.done = counts.done;
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  /** How many more searches may be made before the limit is reached. */
  get affordable(): number {
    return Math.max(0, this.#limit - this.#handedOut);
  }

  /** A search has come to its end after so many calls. */
  note(outcome: ScreeningOutcome, calls: number): void {
    this.calls += calls;
    if (outcome.kind !== 'screened') return;
    const { results } = outcome.answer;
    this.done += 1;
    this.found = {
      matches: this.found.matches + results.length,
      hits: this.found.hits + results.filter((result) => result.match).length,
    };
  }

  /** So many answered searches are to be made again. */
  putBack(searches: number): void {
    this.done -= searches;
  }

  /** How many searches this start has made. */
  get handedOut(): number {
    return this.#handedOut;
  }

  /** One more search is made. */
  handOut(): void {
    this.#handedOut += 1;
  }

  /** Notes that searches remain that this start must not make. */
  reachLimit(): void {
    this.#isLimitReached = true;
  }

  /** Whether that happened. */
  get isLimitReached(): boolean {
    return this.#isLimitReached;
  }

  /** The halt of a run that must not make as many searches as remain. */
  toHalt(): RunHalted {
    return new RunHalted('max_searches', `the limit of ${this.#limit} searches for this run is reached`);
  }
}
