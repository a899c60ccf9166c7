import { z } from 'zod';
import type { RunCounts } from '../reports/run-facts.js';

const count = z.number().int().nonnegative();

const bySeverity = z.object({ critical: count, high: count, medium: count, low: count, info: count });

/** The sums of a screening run, fixed when it closes; the shape of `run.sums`. */
export const runSumsSchema = z.object({
  counts: z.object({
    rows: count,
    customers: count,
    rejected: count,
    duplicates: count,
    inScope: count,
    planned: count,
    screened: count,
    reused: count,
    failed: count,
    skipped: count,
    remaining: count,
    searches: count,
    attempts: count,
    matches: count,
    hits: count,
    changes: count,
  }) satisfies z.ZodType<RunCounts>,
  states: z.object({
    clear: count,
    below_threshold: count,
    settled_false_positive: count,
    incompletely_seen: count,
    not_screened: count,
    open_hit: count,
    confirmed: count,
  }),
  failedBecause: z.record(z.string(), count),
  skippedBecause: z.record(z.string(), count),
  /** Answered customers who are not screened because of a related party that cannot be read, or rows that contradict each other; left out by older runs. */
  unreadableParties: count.optional(),
  baseline: bySeverity,
  /** Left out by runs that closed before they were counted. */
  changesBySeverity: bySeverity.optional(),
  attemptsByOutcome: z.record(z.string(), count),
  possiblyBilledTwice: count,
});
export type RunSums = z.infer<typeof runSumsSchema>;
