import { z } from 'zod';
import type { DetailLookup } from '../../reports/run-facts.js';
import { corroborationSchema, detailLookupSchema } from '../../vocabulary/facts.js';
import { severities } from '../../vocabulary.js';
import { insertRows, type Queryable, readColumn, readValue } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';

const newHitRow = z.object({
  matchId: z.string(),
  severity: z.enum(severities),
  isSanctionHit: z.boolean(),
  isBaseline: z.boolean(),
  corroboration: corroborationSchema,
  score: z.number(),
});
/** How a match became a hit in a run; a match of several customers has one row per way. */
export type NewHit = z.infer<typeof newHitRow>;

/** The matches that became hits by the answers of a run, applied or not, with the facts for their priority. */
export function readNewHits(database: Queryable, runId: number): Promise<readonly NewHit[]> {
  return database.query(
    newHitRow,
    sql`select match_id, severity, sanction_hit as "isSanctionHit", is_baseline,
       max((after ->> 'score')::float8) as score, jsonb_build_object(
         'birthDate', coalesce(birth_date_agreement, 'unknown'), 'country', coalesce(country_agreement, 'unknown')
       ) as corroboration
     from found_change
     where run_id = ${runId} and kind in ('match_added', 'hit_gained', 'match_returned') and after_is_hit
     group by match_id, severity, sanction_hit, is_baseline, birth_date_agreement, country_agreement`,
  );
}

/**
 * The ids that no run on the account has looked up: hits of the roster with an alert that the last answer, or that of this run, still shows, and the entities
 * that their kept activities name. Waiting alerts come first, then by priority.
 */
export function readDetailBacklog(
  database: Queryable,
  { runId, rosterId, accountId }: { runId: number; rosterId: number; accountId: number },
) {
  return readColumn(
    database,
    z.string(),
    sql`with listed as materialized (
       select alert.match_id as id, bool_or(alert.state in ('open', 'pending_approval')) as waits, max(alert.priority) as priority
       from alert_with_match alert
       join party on party.party_id = alert.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
       join party_state state on state.party_id = alert.party_id and state.account_id = alert.account_id
       left join party_answer answer on answer.run_id = ${runId} and answer.party_id = alert.party_id
       join match on match.response_id = coalesce(answer.response_id, state.response_id) and match.is_hit
       join listed_party found on found.listed_id = match.listed_id and found.match_id = alert.match_id
       where alert.account_id = ${accountId} and alert.state <> 'no_longer_matched'
       group by 1
     ),
     wanted as (
       select id, waits, priority from listed
       union all
       select named.id, listed.waits, listed.priority
       from listed
       join match_detail detail on detail.account_id = ${accountId} and detail.kind = 'activity' and detail.record_id = listed.id
       cross join unnest(detail.entity_ids) as named (id)
     )
     select id
     from wanted
     where not exists (
       select from match_detail asked where asked.account_id = ${accountId} and asked.record_id = wanted.id
     )
     group by id
     order by bool_or(waits) desc, max(priority) desc, id collate "C"`,
  );
}

/** Saves a look-up; an unchanged record is kept once. */
export async function saveDetailLookup(
  transaction: Queryable,
  lookup: {
    accountId: number;
    runId: number;
    kind: DetailLookup['kind'];
    id: string;
    askedAt: Date;
    status: number | null;
    requestId: string | null;
    /** The stable code; null when a record is kept. */
    reason: string | null;
    /** The digests are in hex. */
    kept: {
      body: string;
      digest: string;
      receivedDigest: string;
      withheldLinks: number;
      entityIds: readonly string[];
    } | null;
  },
): Promise<void> {
  const { accountId, kind, id, kept, requestId, ...asked } = lookup;
  const isKnown =
    kept !== null &&
    (await readValue(
      transaction,
      z.boolean(),
      sql`select exists (
         select from match_detail
         where account_id = ${accountId} and record_id = ${id} and kind = ${kind} and digest = decode(${kept.digest}, 'hex')
       ) as is_known`,
    ));
  const row = {
    ...asked,
    accountId,
    kind,
    recordId: id,
    serviceRequestId: requestId,
    receivedDigest: kept && Buffer.from(kept.receivedDigest, 'hex'),
    digest: kept && Buffer.from(kept.digest, 'hex'),
    withheldLinks: kept?.withheldLinks ?? 0,
    entityIds: kept?.entityIds ?? [],
    body: isKnown ? null : kept?.body,
  };
  await insertRows(transaction, 'match_detail', [row]);
}

/** The look-ups of these runs in order. */
export function readDetailLookups(database: Queryable, runIds: readonly number[]): Promise<readonly DetailLookup[]> {
  return database.query(
    detailLookupSchema,
    sql`select kind, record_id as id, asked_at, status, reason, encode(received_digest, 'hex') as digest, withheld_links, entity_ids
     from match_detail where run_id = any (${runIds})
     order by run_id, asked_at, record_id collate "C"`,
  );
}

/** SQL: the kept records of an alert's match and of the entities that it names, as JSON, oldest first. */
export const keptDetailsSql = (alert: string): Sql => sql`(
  select coalesce(jsonb_agg(jsonb_build_object(
    'kind', detail.kind, 'id', detail.record_id, 'fetchedAt', detail.asked_at, 'digest', encode(detail.received_digest, 'hex'),
    'withheldLinks', detail.withheld_links, 'body', coalesce(detail.body, (
      select same.body from match_detail same
      where same.account_id = detail.account_id and same.record_id = detail.record_id and same.kind = detail.kind
        and same.digest = detail.digest and same.body is not null limit 1
    ))
  ) order by detail.asked_at, detail.record_id collate "C"), '[]')
  from match_detail detail
  where detail.account_id = ${rawSql(alert)}.account_id and detail.digest is not null and detail.record_id in (
    select ${rawSql(alert)}.match_id
    union
    select unnest(named.entity_ids) from match_detail named
    where named.account_id = ${rawSql(alert)}.account_id and named.kind = 'activity' and named.record_id = ${rawSql(alert)}.match_id
  )
)`;
