import { z } from 'zod';
import type { Span } from './report.js';
import { runKinds, runStates } from './run-facts.js';

const count = z.number().int().nonnegative();
const instant = z.iso.datetime();

/** The part of `report.json` that tells of the runs of a span. */
export const spanJsonSchema = z.strictObject({
  from: instant,
  until: instant,
  runs: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.enum(runKinds),
      state: z.enum(runStates),
      level: z.enum(['complete', 'partial', 'red']),
      trouble: z.string().nullable(),
      startedAt: instant,
      finishedAt: instant.nullable(),
      counts: z
        .strictObject({
          inScope: count,
          planned: count,
          screened: count,
          reused: count,
          failed: count,
          skipped: count,
          remaining: count,
          searches: count,
        })
        .nullable(),
      notScreened: count.nullable(),
      changes: count,
      baseline: count,
    }),
  ),
  gaps: z.array(z.strictObject({ from: instant, until: instant, missed: count })),
});

/** The runs of a span as `report.json` holds them. */
export function toSpanJson({ from, until, runs, gaps }: Span): z.infer<typeof spanJsonSchema> {
  return {
    from: from.toISOString(),
    until: until.toISOString(),
    runs: runs.map(
      ({ runId, kind, state, level, trouble, startedAt, finishedAt, counts, notScreened, changes, baseline }) => ({
        id: runId,
        kind,
        state,
        level,
        trouble,
        startedAt: startedAt.toISOString(),
        finishedAt: finishedAt?.toISOString() ?? null,
        counts: counts && {
          inScope: counts.inScope,
          planned: counts.planned,
          screened: counts.screened,
          reused: counts.reused,
          failed: counts.failed,
          skipped: counts.skipped,
          remaining: counts.remaining,
          searches: counts.searches,
        },
        notScreened,
        changes,
        baseline,
      }),
    ),
    gaps: gaps.map((gap) => ({ from: gap.from.toISOString(), until: gap.until.toISOString(), missed: gap.missed })),
  };
}
