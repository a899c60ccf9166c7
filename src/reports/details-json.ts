import { z } from 'zod';
import type { DetailFacts } from './detail-facts.js';

const count = z.number().int().nonnegative();

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
      stoppedBecause: z.enum(['limit', 'out_of_reach', 'refused', 'time', 'signal']).nullable(),
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
