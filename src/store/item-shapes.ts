import { z } from 'zod';
import type { ChangeCause, MatchChangeKind, Severity } from '../changes/change-event.js';
import type { Agreement } from '../changes/compare-birth-dates.js';
import type { WorstTopic } from '../changes/topic-families.js';
import type { DispositionVerdict } from '../matches/review/disposition.js';
import type { Absence, ItemState } from '../matches/review/project-items.js';
import type { ChangeItemFacts, ItemOwner, ReplacedFacts } from '../reports/item-facts.js';

/** Severities as they are stored, most severe first. */
export const severityShape = z.enum(['critical', 'high', 'medium', 'low', 'info']) satisfies z.ZodType<Severity>;

/** Where an item stands, as it is stored. */
export const itemStateShape = z.enum([
  'open',
  'proposed',
  'settled',
  'confirmed',
  'gone',
]) satisfies z.ZodType<ItemState>;

/** The most serious of what a party is listed for, as it is stored. */
export const topicShape = z.enum([
  'sanction',
  'crime',
  'unknown',
  'pep',
  'associate',
  'other',
  'none',
]) satisfies z.ZodType<WorstTopic>;

/** Why an alert's match is absent, as it is stored. */
export const absenceShape = z.enum([
  'not_returned',
  'below_threshold',
  'customer_changed',
  'settings_changed',
]) satisfies z.ZodType<Absence>;

/** What happened to a match, as it is stored. */
export const changeKindShape = z.enum([
  'match_added',
  'match_changed',
  'match_removed',
  'match_not_returned',
  'match_rekeyed',
  'match_returned',
  'hit_gained',
  'hit_lost',
]) satisfies z.ZodType<MatchChangeKind>;

/** Whose doing a change is, as it is stored. */
export const causeShape = z.enum(['service_data', 'customer_record', 'settings']) satisfies z.ZodType<ChangeCause>;

/** A decision, as it is stored. */
export const verdictShape = z.enum([
  'true_match',
  'false_positive',
  'inconclusive',
  'no_longer_matched',
]) satisfies z.ZodType<DispositionVerdict>;

/** Whether a customer's fact bears a match out, as it is stored. */
export const agreementShape = z.enum(['agree', 'contradict', 'unknown']) satisfies z.ZodType<Agreement>;

/** Who answers for an item, as it is stored. */
export const ownerShape = z.object({
  name: z.string(),
  standsInFor: z.string().nullable(),
}) satisfies z.ZodType<ItemOwner>;

/** The last decision about a match that left the list when the item's match came, as it is stored. */
export const replacedShape = z.object({
  verdict: verdictShape,
  reviewer: z.string(),
  reason: z.string(),
  decidedAt: z.coerce.date(),
  name: z.string(),
  matchId: z.string(),
}) satisfies z.ZodType<ReplacedFacts>;

/** How a change's item stood when its run closed, as it is stored. */
export const changeItemShape = z.object({
  state: itemStateShape,
  openedAt: z.coerce.date(),
  dueAt: z.coerce.date().nullable(),
  owner: ownerShape.nullable(),
  reopenedBecause: z.array(z.string()),
  said: z.array(
    z.object({
      kind: z.enum(['decided', 'proposed', 'confirmed', 'undone']),
      verdict: verdictShape.nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      reason: z.string(),
      saidAt: z.coerce.date(),
    }),
  ),
  // Not kept before anybody looked.
  replaced: replacedShape.nullable().default(null),
}) satisfies z.ZodType<ChangeItemFacts>;
