import type { Severity } from '../changes/change-event.js';

/** How the calls of a run went. */
export interface HealthFacts {
  /** Calls per second while calls were being made, breaks left out; null with fewer than two calls. */
  perSecond: number | null;
  limitPerSecond: number;
  /** Calls made again because the one before brought no answer. */
  repeated: number;
  /** Spans of more than a minute without any call: outages, pauses that the service asked for, stops that were gone on from. */
  breaks: { count: number; seconds: number; longestSeconds: number };
  /** Calls that the service may have billed. */
  billable: number;
  /** What those cost; null without a price. */
  cost: { amount: number; currency: string } | null;
}

/** Items that were decided, as they stood when the run closed, and what the run did with decisions. */
export interface SettledFacts {
  falsePositive: number;
  trueMatch: number;
  /** Decided as inconclusive: they still wait. */
  inconclusive: number;
  /** Final decisions on parties that this run has screened, and that hold. */
  carried: number;
  /** Opened again by this run because something material changed, or the match returned. */
  reopened: number;
  /** Opened again by this run because the decision ran out. */
  expired: number;
  /** Their matches are no longer listed since this run. */
  gone: number;
}

/** One of the last runs of a roster, in figures. */
export interface TrendPoint {
  runId: string;
  finishedAt: Date;
  seconds: number;
  searches: number;
  notScreened: number;
  hits: number;
  changes: number;
  /** Null for a run that closed before they were counted. */
  changesBySeverity: Readonly<Record<Severity, number>> | null;
  /** Items that waited for a decision when it closed; null where nothing is known of it. */
  waiting: number | null;
}

/** How a run went, what is settled, and the runs before it. */
export interface HistoryFacts {
  /** Null where it was not noted. */
  health: HealthFacts | null;
  /** Null where nothing was settled or made of the run yet. */
  settled: SettledFacts | null;
  /** The last 30 runs of the roster on the same account, oldest first, this one last; empty for a run that makes no searches of a roster. */
  trend: readonly TrendPoint[];
}
