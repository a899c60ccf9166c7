import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';
import type { WorstTopic } from '../changes/topic-families.js';
import type { Match } from '../matches/match.js';
import type { DispositionVerdict } from '../matches/review/disposition.js';
import type { Absence, ItemState } from '../matches/review/project-items.js';
import type { SeenCustomer, SeenFacts } from '../matches/review/seen-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { absenceShape, itemStateShape, severityShape, topicShape, verdictShape } from './item-shapes.js';
import { seenCustomerSchema, seenCustomerSql } from './party-facts.js';
import { storedMatchSchema } from './stored-match.js';

/** An item with all that a decision about it depends on. */
export interface DecidableItem {
  itemId: number;
  partyId: number;
  accountId: number;
  state: ItemState;
  /** Null while the match is listed. */
  absence: Absence | null;
  severity: Severity;
  /** The most serious of what the listed party is listed for. */
  topic: WorstTopic;
  /** Whether the customer is a true match because of it. */
  isConfirmed: boolean;
  listed: Match;
  /** As the roster described it when the match was last seen. */
  customer: SeenCustomer;
  /** The decision or proposal that stands; null without one. */
  standing: {
    dispositionId: number;
    verdict: DispositionVerdict;
    reviewer: string;
    /** Who had proposed what somebody else has confirmed. */
    proposer: string | null;
    isFinal: boolean;
    /** Of what it was decided on; keyed, in hex. */
    seenDigest: string;
  } | null;
  /** The numbers of all that was ever said about it, oldest first. */
  decisions: readonly number[];
}

const itemRow = z.object({
  itemId: z.number(),
  partyId: z.number(),
  accountId: z.number(),
  state: itemStateShape,
  absence: absenceShape.nullable(),
  severity: severityShape,
  topic: topicShape,
  isConfirmed: z.boolean(),
  listed: storedMatchSchema,
  customer: seenCustomerSchema,
  standing: z
    .object({
      dispositionId: z.number(),
      verdict: verdictShape,
      reviewer: z.string(),
      proposer: z.string().nullable(),
      isFinal: z.boolean(),
      seenDigest: z.string(),
    })
    .nullable(),
  decisions: z.array(z.number()),
}) satisfies z.ZodType<DecidableItem>;

/**
 * These items and the states of their parties, each held until the transaction ends, so that of two who decide at once the second sees what
 * the first has decided.
 */
export async function holdItems(
  transaction: Queryable,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, DecidableItem>> {
  const ids = [...new Set(itemIds)].sort((left, right) => left - right);
  // In one order for everybody, reviewers and runs: items, then states. Two who hold the same never wait for each other.
  await transaction.execute(`select from review_item where item_id = any ($1::bigint[]) order by item_id for update`, [
    ids,
  ]);
  await transaction.execute(
    `select from party_state
     where (account_id, party_id) in (select account_id, party_id from review_item where item_id = any ($1::bigint[]))
     order by party_id, account_id for no key update`,
    [ids],
  );
  return readDecidableItems(transaction, ids);
}

/** These items as they are, by id. */
export async function readDecidableItems(
  database: Queryable,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, DecidableItem>> {
  const rows = await database.query(
    itemRow,
    `select item.item_id as "itemId", item.party_id as "partyId", item.account_id as "accountId", item.state, item.absence, item.severity,
       item.topic, item.is_confirmed as "isConfirmed", item.listed,
       ${seenCustomerSql} as customer,
       case when standing.disposition_id is not null then jsonb_build_object(
         'dispositionId', standing.disposition_id, 'verdict', standing.verdict, 'reviewer', standing.reviewer,
         'proposer', proposal.reviewer, 'isFinal', standing.kind <> 'proposed', 'seenDigest', encode(standing.seen_digest, 'hex')
       ) end as standing,
       array(select made.disposition_id from disposition made where made.item_id = item.item_id order by 1) as decisions
     from review_item item
     join party on party.party_id = item.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = item.customer_version
     left join disposition standing on standing.disposition_id = item.disposition_id
     left join disposition proposal on proposal.disposition_id = standing.refers_to
     where item.item_id = any ($1::bigint[])`,
    [[...itemIds]],
  );
  return new Map(rows.map((row) => [row.itemId, row]));
}

/** The references of the customers whom these items are about, by item. */
export async function readReferences(
  database: Queryable,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query(
    z.object({ itemId: z.number(), reference: z.string() }),
    `select item.item_id as "itemId", customer.reference
     from review_item item join party using (party_id) join customer using (customer_id)
     where item.item_id = any ($1::bigint[])`,
    [[...itemIds]],
  );
  return new Map(rows.map(({ itemId, reference }) => [itemId, reference]));
}

/** A decision as it is stored. */
export interface NewDisposition {
  itemId: number;
  kind: 'decided' | 'proposed' | 'confirmed' | 'undone';
  /** Null where a decision is undone. */
  verdict: DispositionVerdict | null;
  reviewer: string;
  isAttested: boolean;
  reason: string;
  comment: string | null;
  origin: 'review' | 'legacy' | 'policy';
  seen: SeenFacts;
  /** Keyed, in hex. */
  seenDigest: string;
  expiresAt: Date | null;
  refersTo: number | null;
  /** The working list that it came by; one that nobody has written counts as none. */
  sheetId: number | null;
  /** When the item is due again of which a decision is undone. */
  dueAt: Date | null;
}

/** Adds a decision to an item's history, and the database puts the item where it stands by that; gives the decision's number. */
export async function saveDisposition(transaction: Queryable, decision: NewDisposition, now: Date): Promise<number> {
  const rows = await transaction.query(
    z.object({ dispositionId: z.number() }),
    `insert into disposition (
       item_id, kind, verdict, reviewer, is_attested, reason, comment, decided_at, origin, seen, seen_digest, expires_at, refers_to, sheet_id, due_at
     ) values (
       $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, decode($11, 'hex'), $12, $13,
       (select sheet_id from review_sheet where sheet_id = $14), $15
     )
     returning disposition_id as "dispositionId"`,
    [
      decision.itemId,
      decision.kind,
      decision.verdict,
      decision.reviewer,
      decision.isAttested,
      decision.reason,
      decision.comment,
      now,
      decision.origin,
      JSON.stringify(decision.seen),
      decision.seenDigest,
      decision.expiresAt,
      decision.refersTo,
      decision.sheetId,
      decision.dueAt,
    ],
  );
  return firstRow(rows, 'disposition').dispositionId;
}

/** From a decision on a score is measured from the one that was decided on; the items are held. */
export async function noteDecidedScores(
  transaction: Queryable,
  items: readonly Pick<DecidableItem, 'accountId' | 'partyId' | 'listed'>[],
): Promise<void> {
  for (const { accountId, partyId, listed } of items) {
    await transaction.execute(
      `update party_state set reported_scores = coalesce(reported_scores, '{}') || $3::text::jsonb
       where account_id = $1 and party_id = $2`,
      [accountId, partyId, JSON.stringify({ [listed.id]: listed.score })],
    );
  }
}
