import { z } from 'zod';
import { severities } from '../changes/change-event.js';
import type { HistoryFacts, TrendPoint } from './history-facts.js';

const count = z.number().int().nonnegative();

/** How a run went, what is settled and the runs before it, in `report.json`. */
export const historyJson = {
  health: z
    .strictObject({
      perSecond: z.number().nullable(),
      limitPerSecond: z.number(),
      repeated: count,
      breaks: z.strictObject({ count, seconds: count, longestSeconds: count }),
      billable: count,
      cost: z.strictObject({ amount: z.number(), currency: z.string() }).nullable(),
    })
    .nullable(),
  settled: z
    .strictObject({
      falsePositive: count,
      trueMatch: count,
      inconclusive: count,
      carried: count,
      reopened: count,
      expired: count,
      gone: count,
    })
    .nullable(),
  /** The last 30 runs of the roster up to this one, oldest first. */
  trend: z.array(
    z.strictObject({
      runId: z.string(),
      finishedAt: z.iso.datetime(),
      seconds: count,
      searches: count,
      notScreened: count,
      hits: count,
      changes: count,
      changesBySeverity: z.array(z.strictObject({ code: z.enum(severities), count })).nullable(),
      waiting: count.nullable(),
    }),
  ),
};

type HistoryJson = z.infer<z.ZodObject<typeof historyJson>>;

/** The same as `report.json` holds it. */
export function toHistoryJson({ health, settled, trend }: HistoryFacts): HistoryJson {
  return {
    health: health && {
      perSecond: health.perSecond,
      limitPerSecond: health.limitPerSecond,
      repeated: health.repeated,
      breaks: {
        count: health.breaks.count,
        seconds: health.breaks.seconds,
        longestSeconds: health.breaks.longestSeconds,
      },
      billable: health.billable,
      cost: health.cost && { amount: health.cost.amount, currency: health.cost.currency },
    },
    settled: settled && {
      falsePositive: settled.falsePositive,
      trueMatch: settled.trueMatch,
      inconclusive: settled.inconclusive,
      carried: settled.carried,
      reopened: settled.reopened,
      expired: settled.expired,
      gone: settled.gone,
    },
    trend: trend.map(toPointJson),
  };
}

function toPointJson({ finishedAt, changesBySeverity, ...figures }: TrendPoint): HistoryJson['trend'][number] {
  const { runId, seconds, searches, notScreened, hits, changes, waiting } = figures;
  return {
    runId,
    finishedAt: finishedAt.toISOString(),
    seconds,
    searches,
    notScreened,
    hits,
    changes,
    changesBySeverity:
      changesBySeverity && severities.map((severity) => ({ code: severity, count: changesBySeverity[severity] })),
    waiting,
  };
}
