import { z } from 'zod';
import type { Queryable } from './database.js';

/** A party as a record holds it. */
export const seatedPartySchema = z.object({
  role: z.string(),
  type: z.string(),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  sentName: z.string(),
  /** Of a related party: what stands in its source for facts that are in doubt, and for those that are kept in another form. */
  doubts: z.record(z.string(), z.string()).optional(),
  said: z.record(z.string(), z.string()).optional(),
});
/** A party as a record holds it. */
export type SeatedParty = z.infer<typeof seatedPartySchema>;

/** A record: who is screened, each in the place that is theirs for ever; a place whose party is gone holds null. */
export const seatedRecordSchema = z.looseObject({
  riskTier: z.string().nullable(),
  parties: z.array(seatedPartySchema.nullable()),
});
/** A record of a customer. */
export type SeatedRecord = z.infer<typeof seatedRecordSchema>;

const caseRow = z.object({
  reference: z.string(),
  ordinal: z.number().nullable(),
  ownRecord: seatedRecordSchema.nullable(),
  ownDigest: z.string().nullable(),
  leaves: z.enum(['inactive', 'end_date']).nullable(),
  conflicts: z.array(z.array(seatedPartySchema)),
  related: z.array(seatedPartySchema),
  keepsRelated: z.boolean(),
  isShown: z.boolean(),
  customerId: z.number().nullable(),
  version: z.number().nullable(),
  knownDigest: z.string().nullable(),
  knownOwnDigest: z.string().nullable(),
  knownRecord: seatedRecordSchema.nullable(),
  /** Everybody who ever had a place, by place. */
  seats: z.record(z.string(), seatedPartySchema).nullable(),
});

/** All that a snapshot says of one customer, and what was known of them. */
export type RosterCase = z.infer<typeof caseRow>;

/** What came of a case. */
export interface SettledCase {
  kind: 'new' | 'changed' | 'same';
  isShown: boolean;
  hasRecord: boolean;
  reference: string;
  customerId: number | null;
  version: number | null;
  leaves: string | null;
  /** Null where nothing changes. */
  record: SeatedRecord | null;
  /** Also of a record that stays as it is, where an earlier version has stored another. */
  recordDigest: string | null;
  ownDigest: string | null;
}

/** The cases of a run in the order of their references, `limit` of them after `after`. */
export async function readCases(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  after: string,
  limit: number,
): Promise<readonly RosterCase[]> {
  return transaction.query(
    caseRow,
    `select whole.reference, whole.ordinal, whole.own_record as "ownRecord", encode(whole.own_digest, 'hex') as "ownDigest",
       whole.leaves, whole.conflicts, whole.related, whole.keeps_related as "keepsRelated", whole.is_shown as "isShown",
       customer.customer_id as "customerId", customer.version, encode(customer.record_digest, 'hex') as "knownDigest",
       encode(customer.own_digest, 'hex') as "knownOwnDigest", latest.record as "knownRecord", seated.seats
     from roster_case whole
     left join customer on customer.roster_id = $2 and customer.reference = whole.reference
     left join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
     left join lateral (
       select jsonb_object_agg(place, facts) as seats
       from (
         select distinct on (place) place - 1 as place, facts
         from customer_version former
         cross join jsonb_array_elements(former.record -> 'parties') with ordinality as seat (facts, place)
         where former.customer_id = customer.customer_id and facts <> 'null'
         order by place, former.version desc
       ) newest
     ) seated on true
     where whole.run_id = $1 and whole.reference > $3
     order by whole.reference
     limit $4`,
    [runId, rosterId, after, limit],
  );
}

/** Stores what came of cases as steps of the run. */
export async function saveSettledCases(
  transaction: Queryable,
  runId: number,
  settled: readonly SettledCase[],
): Promise<void> {
  await transaction.execute(
    `insert into roster_step (run_id, kind, is_shown, has_record, reference, customer_id, version, leaves, record, record_digest, own_digest)
     select $1, kind, "isShown", "hasRecord", reference, "customerId", version, leaves, record, decode("recordDigest", 'hex'), decode("ownDigest", 'hex')
     from jsonb_to_recordset($2::text::jsonb) as row (
       kind text, "isShown" boolean, "hasRecord" boolean, reference text, "customerId" bigint, version integer, leaves text, record jsonb,
       "recordDigest" text, "ownDigest" text
     )`,
    [runId, JSON.stringify(settled)],
  );
}
