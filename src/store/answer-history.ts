import { z } from 'zod';
import type { Queryable } from './database.js';
import {
  judgedTierSql,
  partyFactsSchema,
  partySaidSchema,
  partySaidSql,
  seenCustomerSchema,
  seenCustomerSql,
} from './party-facts.js';

const answerRow = z.object({
  partyId: z.number(),
  accountId: z.number(),
  runId: z.number(),
  kind: z.enum(['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile']),
  startedAt: z.date(),
  savedAt: z.date(),
  requestId: z.number(),
  responseId: z.number(),
  customerVersion: z.number(),
  settingsDigest: z.string(),
  /** The length at which lists were taken to be cut without a word. */
  cap: z.number().nullable(),
});
/** A stored answer of a party on an account that is not as the one before it: another text, record, request, settings or cap. */
export type HistoricalAnswer = z.infer<typeof answerRow>;

/** The next parties of an organisation after one, by number. */
export async function listParties(
  database: Queryable,
  organisation: string,
  after: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await database.query(
    z.object({ partyId: z.number() }),
    `select party_id as "partyId"
     from party join customer using (customer_id) join roster using (roster_id) join organisation using (organisation_id)
     where organisation.name = $1 and party_id > $2
     order by party_id limit $3`,
    [organisation, after, limit],
  );
  return rows.map(({ partyId }) => partyId);
}

/** Everything that was answered for these parties and not taken back, by party, account and run; what repeats the answer before is left out. */
export async function readAnswerHistory(
  database: Queryable,
  partyIds: readonly number[],
): Promise<readonly HistoricalAnswer[]> {
  return database.query(
    answerRow,
    `select "partyId", "accountId", "runId", kind, "startedAt", "savedAt", "requestId", "responseId", "customerVersion", "settingsDigest", cap
     from (
       select told.*, lag(told.likeness) over (partition by "partyId", "accountId" order by "runId") as former
       from (
         select answered.party_id as "partyId", run.account_id as "accountId", run.run_id as "runId", run.kind, run.started_at as "startedAt",
           coalesce(batch.committed_at, run.started_at) as "savedAt", answered.request_id as "requestId",
           answered.response_id as "responseId", answered.customer_version as "customerVersion",
           run.settings_digest as "settingsDigest", cap.length as cap,
           concat_ws('/', answered.response_id, answered.customer_version, answered.request_id, run.settings_digest, coalesce(cap.length, 0))
             as likeness
         from run
         -- Fenced off: the history is read by run and party, which is its key, and never walked through whole.
         cross join lateral (
           select * from screening where screening.run_id = run.run_id and screening.party_id = any ($1::bigint[]) offset 0
         ) answered
         left join commit_batch batch on batch.batch_id = answered.batch_id
         left join lateral (
           select length from list_cap
           where list_cap.account_id = run.account_id and found_run_id <= run.run_id and (gone_run_id is null or gone_run_id >= run.run_id)
           order by cap_id desc limit 1
         ) cap on true
         where run.account_id is not null and answered.outcome in ('screened', 'reused')
       ) told
     ) compared
     where likeness is distinct from former
     order by "partyId", "accountId", "runId"`,
    [[...partyIds]],
  );
}

const partyRow = z.object({
  partyId: z.number(),
  version: z.number(),
  reference: z.string(),
  customer: seenCustomerSchema,
  riskTier: partyFactsSchema.shape.riskTier,
  said: partySaidSchema,
});
/** A party as its customer was in one version. */
export type HistoricalParty = z.infer<typeof partyRow>;

/** Parties as their customers were in each of these versions. */
export async function readHistoricalParties(
  database: Queryable,
  asked: readonly Pick<HistoricalAnswer, 'partyId' | 'customerVersion'>[],
): Promise<readonly HistoricalParty[]> {
  return database.query(
    partyRow,
    `select distinct on (party.party_id, version.version) party.party_id as "partyId", version.version, customer.reference,
       ${seenCustomerSql} as customer, ${judgedTierSql} as "riskTier", ${partySaidSql} as said
     from unnest($1::bigint[], $2::integer[]) as asked (party_id, customer_version)
     join party on party.party_id = asked.party_id
     join customer on customer.customer_id = party.customer_id
     join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`,
    [asked.map(({ partyId }) => partyId), asked.map(({ customerVersion }) => customerVersion)],
  );
}

const decisionRow = z.object({
  partyId: z.number(),
  accountId: z.number(),
  matchId: z.string(),
  at: z.date(),
  kind: z.enum(['decided', 'confirmed_match', 'fell', 'away', 'back']),
});
/** What bore on whether a match was confirmed or decided about; `confirmed_match` is a decision, too. */
export type HistoricalDecision = z.infer<typeof decisionRow>;

/** What people have decided about these parties' items and what became of it, oldest first. */
export async function readDecisionHistory(
  database: Queryable,
  partyIds: readonly number[],
): Promise<readonly HistoricalDecision[]> {
  return database.query(
    decisionRow,
    `select item.party_id as "partyId", item.account_id as "accountId", item.listed ->> 'id' as "matchId", told.at, told.kind
     from review_item item
     cross join lateral (
       select decided_at as at, 0 as place, disposition_id as number,
         case
           when kind = 'undone' then 'fell'
           when verdict = 'true_match' and kind <> 'proposed' then 'confirmed_match'
           else 'decided'
         end as kind
       from disposition where disposition.item_id = item.item_id
       union all
       select happened_at, 1, event_id, case kind when 'reopened' then 'fell' when 'gone' then 'away' else 'back' end
       from review_event where review_event.item_id = item.item_id and kind in ('reopened', 'gone', 'returned')
     ) told
     where item.party_id = any ($1::bigint[])
     order by told.at, told.place, told.number`,
    [[...partyIds]],
  );
}

/** How many changes are stored of an organisation's runs that began since then, first screenings apart. */
export async function countStoredChanges(
  database: Queryable,
  organisation: string,
  since: Date | null,
): Promise<{ changes: number; baseline: number }> {
  const rows = await database.query(
    z.object({ changes: z.number(), baseline: z.number() }),
    `select count(*) filter (where not is_baseline)::integer as changes, count(*) filter (where is_baseline)::integer as baseline
     from change_event join run using (run_id) join organisation using (organisation_id)
     where organisation.name = $1 and ($2::timestamptz is null or run.started_at >= $2)`,
    [organisation, since],
  );
  return rows[0] ?? { changes: 0, baseline: 0 };
}
