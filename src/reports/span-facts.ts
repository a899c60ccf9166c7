import type { CanaryFacts, RunCounts } from './list-facts.js';
import type { RunFacts, RunKind, RunState } from './run-facts.js';
import type { WatchFacts } from './watch-facts.js';

/** A run of a span as it is stored. */
export interface SpanRunFacts {
  runId: string;
  kind: RunKind;
  state: RunState;
  /** Whether it was to screen whoever is due, and not some of them alone. */
  wantsAll: boolean;
  startedAt: Date;
  /** Null for one that never came to its end. */
  finishedAt: Date | null;
  counts: RunCounts | null;
  states: RunFacts['states'];
  canaries: readonly CanaryFacts[];
  watch: WatchFacts | null;
  /** Match changes that it found. */
  changes: number;
  /** Matches of first screenings that it found. */
  baseline: number;
}

/** A span of time and the roster's runs that were begun in it, in order. */
export interface SpanFacts {
  from: Date;
  until: Date;
  /** When it was asked for, where it reaches to the present; null where it was given an end. */
  asOf: Date | null;
  runs: readonly SpanRunFacts[];
}
