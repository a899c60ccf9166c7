import type { CanaryFacts, RunCounts, RunFacts, RunKind, RunState } from './run-facts.js';
import type { VerdictLevel } from './verdict.js';
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

/** A time in which nobody was screened although the cadence asked for it. */
export interface SpanGap {
  from: Date;
  until: Date;
  /** How many screenings would have been due in it. */
  missed: number;
}

/** A run of a span and what it came to. */
export interface SpanRun extends Omit<SpanRunFacts, 'canaries' | 'watch' | 'states' | 'wantsAll'> {
  level: VerdictLevel;
  /** Why it is not complete, in a few words; null where it is. */
  trouble: string | null;
  /** Null where it screened nobody. */
  notScreened: number | null;
}

/** What a report of a span tells of its runs. */
export interface Span {
  from: Date;
  until: Date;
  runs: readonly SpanRun[];
  gaps: readonly SpanGap[];
}
