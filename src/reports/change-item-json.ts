import { z } from 'zod';
import { dispositionVerdicts } from '../matches/review/disposition.js';
import { itemStates } from '../matches/review/project-items.js';
import type { ChangeItemFacts } from './item-facts.js';

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
