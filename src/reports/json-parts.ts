import { z } from 'zod';
import { detailStops, dispositionVerdicts, itemStates, runKinds, runStates, severities } from '../vocabulary.js';
import type { AcceptedFacts, ChangeItemFacts, CustomerRecordFacts, DetailFacts } from './list-facts.js';
import type { Span } from './report.js';
import type { HistoryFacts, TrendPoint } from './run-facts.js';

const acceptedBy = {
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.iso.datetime(),
};

const recordJson = z.strictObject({
  name: z.string(),
  type: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  parties: z.array(z.string()),
});

/** What of `report.json` tells what somebody accepted. */
export const acceptedJson = {
  settingsChanges: z.array(z.strictObject({ differences: z.array(z.string()), ...acceptedBy })),
  rosterAcceptances: z.array(
    z.strictObject({
      heldBy: z.array(z.strictObject({ guard: z.string(), message: z.string() })),
      changes: z.array(z.strictObject({ reference: z.string(), before: recordJson, after: recordJson })),
      ...acceptedBy,
    }),
  ),
};
type AcceptedJson = z.infer<z.ZodObject<typeof acceptedJson>>;

/** What somebody accepted as `report.json` holds it. */
export function toAcceptedJson({ settingsChanges, rosterAcceptances }: AcceptedFacts): AcceptedJson {
  const toWho = (accepted: AcceptedFacts['settingsChanges' | 'rosterAcceptances'][number]) => ({
    acceptedBy: accepted.acceptedBy,
    isAttested: accepted.isAttested,
    reason: accepted.reason,
    acceptedAt: accepted.acceptedAt.toISOString(),
  });
  return {
    settingsChanges: settingsChanges.map((change) => ({ differences: [...change.differences], ...toWho(change) })),
    rosterAcceptances: rosterAcceptances.map((acceptance) => ({
      heldBy: acceptance.heldBy.map(({ guard, message }) => ({ guard, message })),
      changes: acceptance.changes.map(({ reference, before, after }) => ({
        reference,
        before: toRecordJson(before),
        after: toRecordJson(after),
      })),
      ...toWho(acceptance),
    })),
  };
}

const toRecordJson = (record: CustomerRecordFacts): z.infer<typeof recordJson> => ({
  ...record,
  countries: [...record.countries],
  parties: [...record.parties],
});

const instant = z.iso.datetime();

/** Who answers for an item, in `report.json`. */
export const itemOwnerJsonSchema = z.strictObject({ name: z.string(), standsInFor: z.string().nullable() });

/** How the item of a change stood when the run closed, in `report.json`. */
export const changeItemJsonSchema = z.strictObject({
  state: z.enum(itemStates),
  openedAt: instant,
  dueAt: instant.nullable(),
  owner: itemOwnerJsonSchema.nullable(),
  reopenedBecause: z.array(z.string()),
  said: z.array(
    z.strictObject({
      kind: z.enum(['decided', 'proposed', 'confirmed', 'undone']),
      verdict: z.enum(dispositionVerdicts).nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      reason: z.string(),
      saidAt: instant,
    }),
  ),
  /** The last decision about a like match that left the list when this one came. */
  replaced: z
    .strictObject({
      verdict: z.enum(dispositionVerdicts),
      reviewer: z.string(),
      reason: z.string(),
      decidedAt: instant,
      name: z.string(),
      matchId: z.string(),
    })
    .nullable(),
});

/** How the item of a change stood, with instants in ISO 8601 UTC and keys always in the same order. */
export function toChangeItemJson(item: ChangeItemFacts | null): z.infer<typeof changeItemJsonSchema> | null {
  if (item === null) return null;
  const { state, openedAt, dueAt, owner, reopenedBecause, said, replaced } = item;
  return {
    state,
    openedAt: openedAt.toISOString(),
    dueAt: dueAt?.toISOString() ?? null,
    owner: owner && { name: owner.name, standsInFor: owner.standsInFor },
    reopenedBecause: [...reopenedBecause],
    said: said.map(({ kind, verdict, reviewer, isAttested, reason, saidAt }) => ({
      kind,
      verdict,
      reviewer,
      isAttested,
      reason,
      saidAt: saidAt.toISOString(),
    })),
    replaced: replaced && {
      verdict: replaced.verdict,
      reviewer: replaced.reviewer,
      reason: replaced.reason,
      decidedAt: replaced.decidedAt.toISOString(),
      name: replaced.name,
      matchId: replaced.matchId,
    },
  };
}

const count = z.number().int().nonnegative();

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

/** The part of `report.json` that tells what was fetched about new hits. */
export const detailsJsonSchema = z.strictObject({
  counts: z
    .strictObject({
      hits: count,
      withoutRecord: count,
      asked: count,
      kept: count,
      notAvailable: count,
      leftOver: count,
      backlogAsked: count,
      backlogLeft: count,
      stoppedBecause: z.enum(detailStops).nullable(),
    })
    .nullable(),
  records: z.array(
    z.strictObject({
      kind: z.enum(['activity', 'entity']),
      id: z.string(),
      askedAt: z.iso.datetime(),
      status: count.nullable(),
      reason: z.string().nullable(),
      digest: z.string().nullable(),
      withheldLinks: count,
      entityIds: z.array(z.string()),
    }),
  ),
});

/** What was fetched, as `report.json` holds it. */
export function toDetailsJson({ counts, lookups }: DetailFacts): z.infer<typeof detailsJsonSchema> {
  return {
    counts:
      counts === null
        ? null
        : {
            hits: counts.hits,
            withoutRecord: counts.withoutRecord,
            asked: counts.asked,
            kept: counts.kept,
            notAvailable: counts.notAvailable,
            leftOver: counts.leftOver,
            backlogAsked: counts.backlogAsked,
            backlogLeft: counts.backlogLeft,
            stoppedBecause: counts.stoppedBecause,
          },
    records: lookups.map(({ kind, id, askedAt, status, reason, digest, withheldLinks, entityIds }) => ({
      kind,
      id,
      askedAt: askedAt.toISOString(),
      status,
      reason,
      digest,
      withheldLinks,
      entityIds: [...entityIds],
    })),
  };
}
