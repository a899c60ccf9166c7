import { z } from 'zod';
import type { Corroboration } from '../../changes/corroboration.js';
import type { Match } from '../../matches/match.js';
import type { SeenCustomer } from '../../matches/review-item.js';
import {
  agreements,
  type ChangeCause,
  changeCauses,
  type MatchChangeKind,
  matchChangeKinds,
  type RiskTier,
  type Severity,
  severities,
} from '../../vocabulary.js';
import { firstRow, type Queryable, readColumn } from '../database/database.js';
import {
  assessedTierSql,
  partyFactsSchema,
  seenCustomerSchema,
  seenCustomerSql,
  storedMatchSchema,
  storedMatchSql,
} from '../row-shapes.js';

/** Whose changes: of a roster's runs on an account. */
export interface ProjectionScope {
  rosterId: number;
  accountId: number;
}

/** A change that no item has been made of yet. */
interface UnprojectedChange {
  matchId: string;
  kind: MatchChangeKind;
  severity: Severity;
  rule: string;
  corroboration: Corroboration;
  isBaseline: boolean;
}

/** A party whose items may not be as its last answer says. */
export interface UnprojectedParty {
  partyId: number;
  customerVersion: number;
  customer: SeenCustomer;
  /** Whether the roster still names it. */
  isCurrent: boolean;
  riskTier: RiskTier | null;
  /** Those of the last answer, and those that cut lists hide. */
  matches: readonly Match[];
  /** By the id that a match has now; of several the most severe. */
  changes: ReadonlyMap<string, UnprojectedChange>;
  /** Whose doing the last change of a match was, by the id before and after it. */
  causes: ReadonlyMap<string, ChangeCause>;
}

/** SQL: the changes of a roster's runs ($1) on an account ($2) of which no items have been made. */
const unprojectedSql = `
  run cross join lateral (
    -- Fenced off: run by run, because nearly all that earlier runs have found has been looked at.
    select run_id, change_id, party_id from change_event
    where run_id = run.run_id and change_id > coalesce(run.projected_change_id, 0) offset 0
  ) event`;
const inScopeSql = 'run.roster_id = $1 and run.account_id = $2';

/** SQL: how many hits the last answer of a party (`state`) shows or hides. */
const hitsSql = `(
  (select count(*) from match where match.response_id = state.response_id and match.is_hit)
  + (select count(*) from jsonb_array_elements(coalesce(state.unreturned, '[]')) hidden (listed) where hidden.listed -> 'isHit' = 'true')
)`;

/** SQL: the current parties (`state`) of a roster ($1) on an account ($2) whose answer has more hits than they have alerts. */
const withoutAlertSql = `
  party_state state
  join party on party.party_id = state.party_id and party.is_current
  join customer on customer.customer_id = party.customer_id and customer.roster_id = $1
  where state.account_id = $2 and state.state = 'open_hit' and ${hitsSql} > (
    select count(*) from review_item item
    where item.party_id = state.party_id and item.account_id = state.account_id and item.state <> 'gone' and item.absence is null
  )`;

const disagreementsRow = z.object({
  /** Alerts in another state than their dispositions give. */
  alerts: z.number(),
  /** Parties with a hit that is no alert. */
  hits: z.number(),
});
/**
 * Computes the alerts of a roster on an account anew from dispositions and answers, and gives what of the stored ones is not as these give;
 * all 0 once the alerts of all runs are made.
 */
export async function findStateDisagreements(database: Queryable, { rosterId, accountId }: ProjectionScope) {
  const rows = await database.query(
    disagreementsRow,
    `select (select count(*)::integer from ${withoutAlertSql}) as hits, count(*)::integer as alerts
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = $1
     left join disposition said on said.disposition_id = item.disposition_id
     where item.account_id = $2 and (
       item.is_confirmed is distinct from (
         exists (select from disposition made where made.item_id = item.item_id) and was_confirmed(item.item_id)
       )
       or not coalesce(case
         when said.disposition_id is null or said.verdict = 'inconclusive' and said.kind <> 'proposed' then item.state = 'open'
         when said.kind = 'proposed' then item.state = 'proposed'
         when said.verdict = 'true_match' then item.state = case when item.absence is null then 'confirmed' else 'open' end
         when said.verdict = 'false_positive' then item.state = case when item.absence is null then 'settled' else 'gone' end
         when said.verdict = 'no_longer_matched' then item.state = 'gone' and item.absence is not null
       end, false)
     )`,
    [rosterId, accountId],
  );
  return firstRow(rows, 'review_item');
}

/**
 * The parties whose items have to be looked at: their matches have changed, the record has beside which an item was seen, the roster no
 * longer names them or does again, a decision has run out by `now`, a hit has no item, or a held run has opened one.
 */
export function findUnprojectedParties(database: Queryable, { rosterId, accountId }: ProjectionScope, now: Date) {
  return readColumn(
    database,
    z.number(),
    `select event.party_id from ${unprojectedSql} where ${inScopeSql}
     union
     select item.party_id
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = $1
     -- None where only held runs have answered.
     left join party_state state on state.party_id = item.party_id and state.account_id = item.account_id
     left join disposition on disposition.disposition_id = item.disposition_id
     where item.account_id = $2 and item.state <> 'gone' and case
       when not party.is_current then item.absence is null or item.absence in ('not_returned', 'below_threshold')
       when item.absence is null then item.customer_version <> state.customer_version or disposition.expires_at <= $3
       else item.absence = 'customer_changed'
     end
     union
     select state.party_id from ${withoutAlertSql}
     union
     -- What a held run has opened is compared with the next answer that counts.
     select item.party_id
     from run_hold hold
     join run on run.run_id = hold.run_id and ${inScopeSql}
     join review_event event on event.run_id = hold.run_id
     join review_item item on item.item_id = event.item_id and item.state <> 'gone' and item.absence is null
     join party_state state on state.party_id = item.party_id and state.account_id = item.account_id and state.run_id >= hold.run_id
     where hold.kind = 'answers'
     order by 1`,
    [rosterId, accountId, now],
  );
}

const partyRow = z
  .object({
    partyId: z.number(),
    customerVersion: z.number(),
    customer: seenCustomerSchema,
    isCurrent: z.boolean(),
    riskTier: partyFactsSchema.shape.riskTier,
    returned: z.array(storedMatchSchema),
    hidden: z.array(storedMatchSchema),
    changes: z.array(
      z.object({
        matchId: z.string(),
        kind: z.enum(matchChangeKinds),
        cause: z.enum(changeCauses),
        severity: z.enum(severities),
        rule: z.string(),
        corroboration: z.object({ birthDate: z.enum(agreements), country: z.enum(agreements) }),
        isBaseline: z.boolean(),
        formerId: z.string().nullable(),
      }),
    ),
  })
  .transform(({ returned, hidden, changes, ...party }): UnprojectedParty => {
    const byMatch = new Map<string, UnprojectedChange>();
    const causes = new Map<string, ChangeCause>();
    for (const { formerId, cause, ...change } of changes) {
      causes.set(formerId ?? change.matchId, cause).set(change.matchId, cause);
      const earlier = [byMatch.get(change.matchId), byMatch.get(formerId ?? change.matchId)];
      byMatch.set(change.matchId, earlier.reduce<UnprojectedChange>(pickWorse, change));
    }
    return { ...party, matches: [...returned, ...hidden], changes: byMatch, causes };
  });

const toPlace = ({ severity }: UnprojectedChange): number => z.enum(severities).options.indexOf(severity);

/** The later one, unless the earlier is more severe: a small change afterwards makes a hit no smaller. */
const pickWorse = (later: UnprojectedChange, earlier: UnprojectedChange | undefined): UnprojectedChange =>
  earlier !== undefined && toPlace(earlier) < toPlace(later) ? earlier : later;

/** SQL that builds a change as JSON from `event`. */
const changeSql = `jsonb_build_object(
  'matchId', event.match_id, 'severity', event.severity, 'rule', event.rule, 'kind', event.kind, 'cause', event.cause,
  'isBaseline', event.is_baseline, 'formerId', event.before ->> 'id',
  'corroboration', jsonb_build_object(
    'birthDate', coalesce(event.birth_date_agreement, 'unknown'), 'country', coalesce(event.country_agreement, 'unknown')
  )
)`;

/** What is known now of parties whose items have to be looked at, each beside the record that was searched for. */
export async function readUnprojectedParties(
  database: Queryable,
  { rosterId, accountId }: ProjectionScope,
  partyIds: readonly number[],
): Promise<readonly UnprojectedParty[]> {
  return database.query(
    partyRow,
    `select party.party_id, version.version as "customerVersion", ${assessedTierSql} as "riskTier",
       party.is_current, ${seenCustomerSql} as customer,
       (select coalesce(jsonb_agg(${storedMatchSql} order by match.rank), '[]') from match where match.response_id = state.response_id) as returned,
       coalesce(state.unreturned, '[]') as hidden,
       (select coalesce(jsonb_agg(${changeSql} order by event.change_id), '[]')
        -- Fenced off: without statistics all changes of a run would be walked through for each party.
        from (select * from change_event where party_id = party.party_id offset 0) event
        join run on run.run_id = event.run_id and run.roster_id = $1 and run.account_id = $2
          and event.change_id > coalesce(run.projected_change_id, 0)) as changes
     from party
     join customer on customer.customer_id = party.customer_id
     left join party_state state on state.account_id = $2 and state.party_id = party.party_id
     join customer_version version
       on version.customer_id = party.customer_id and version.version = coalesce(state.customer_version, customer.version)
     where party.party_id = any ($3::bigint[])
     order by party.party_id`,
    [rosterId, accountId, [...partyIds]],
  );
}

/**
 * The parties for which a held run found what was not known, or a decided match beside another record of the customer, by the answers that were
 * taken back; at most `limit` after party `last`.
 */
export async function readHeldParties(
  database: Queryable,
  { rosterId, accountId, runId }: ProjectionScope & { runId: number },
  { last, limit }: { last: number; limit: number },
): Promise<readonly UnprojectedParty[]> {
  return database.query(
    partyRow,
    `select taken.party_id, coalesce(state.customer_version, (taken.answer ->> 'customer_version')::integer) as "customerVersion",
       ${assessedTierSql} as "riskTier", party.is_current, ${seenCustomerSql} as customer,
       (select coalesce(jsonb_agg(${storedMatchSql} order by match.rank), '[]') from match where match.response_id = taken.response_id) as returned,
       coalesce(nullif(taken.answer -> 'unreturned', 'null'), '[]') as hidden,
       (select coalesce(jsonb_agg(${changeSql} order by event.change_id), '[]')
        from taken_back_change event
        where event.run_id = $1 and event.party_id = taken.party_id and event.batch_id = taken.batch_id) as changes
     from taken_back_answer taken
     join party on party.party_id = taken.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
     join customer_version version
       on version.customer_id = party.customer_id and version.version = (taken.answer ->> 'customer_version')::integer
     left join party_state state on state.account_id = $3 and state.party_id = taken.party_id
     where taken.run_id = $1 and taken.answer is not null and taken.party_id > $4
       and (
         exists (
           select from taken_back_change event
           where event.run_id = $1 and event.party_id = taken.party_id and event.batch_id = taken.batch_id
             and event.kind not in ('match_removed', 'match_not_returned', 'hit_lost')
         )
         or exists (
           select from review_item item
           where item.party_id = taken.party_id and item.account_id = $3 and item.disposition_id is not null
             and item.customer_version <> (taken.answer ->> 'customer_version')::integer
         )
       )
     order by taken.party_id
     limit $5`,
    [runId, rosterId, accountId, last, limit],
  );
}

/** Notes that items have been made of all changes so far. */
export async function markProjected(transaction: Queryable, { rosterId, accountId }: ProjectionScope): Promise<void> {
  await transaction.execute(
    `update run set projected_change_id = reported.last
     from (select event.run_id, max(event.change_id) as last from ${unprojectedSql} where ${inScopeSql} group by event.run_id) reported
     where run.run_id = reported.run_id`,
    [rosterId, accountId],
  );
}
