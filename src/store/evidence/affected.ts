import { z } from 'zod';
import { customerStates, runModes } from '../../vocabulary.js';
import { type Database, type Queryable, readRow } from '../database/database.js';
import { type Sql, sql } from '../database/statement.js';
import { screeningKindsSql, stateAtSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';

/** What has become of a customer since the span; the first come first in the list. */
export const affectedSince = ['not_screened', 'left', 'screened'] as const;

const affectedRow = z.object({
  roster: z.string(),
  reference: z.string(),
  mode: z.enum(runModes),
  /** Whether all its parties have answers that were received after the span; `left`: those that lack one are no longer in the roster. */
  sinceThen: z.enum(affectedSince),
  /** The run that received its last answer in the span, when, and what all these answers say. */
  runId: z.string(),
  answeredAt: z.date(),
  results: z.number(),
  hits: z.number(),
  /** As recorded at the end of the span. */
  stateThen: z.enum(customerStates).nullable(),
  /** The run that received its newest answer, and when; null until all parties have one that was received after the span. */
  againRunId: z.string().nullable(),
  againAt: z.date().nullable(),
  /** As of now. While the last answer is of the span it is no more than a waiting alert or a true match. Null for who has left. */
  stateNow: z.enum(customerStates).nullable(),
  /** Why the last search has no valid answer; null where it has. */
  because: z.string().nullable(),
  changesSince: z.number(),
  alertsSince: z.number(),
});
/** A customer with an answer that was received in a span. */
export type AffectedCustomer = z.infer<typeof affectedRow>;

/** The days of a span as moments, `until` excluded, and the rosters. */
interface AffectedSpan {
  from: Date;
  until: Date;
  rosterIds: readonly number[];
}

/** How many runs of these rosters began in a span with answers that counted, how many are in packs only, and whether a match with one of these topics was ever received. */
export const readSpanFacts = (
  database: Queryable,
  { from, until, rosterIds }: AffectedSpan,
  topic: string | null,
): Promise<{ runs: number; packedRuns: number; isTopicKnown: boolean }> =>
  readRow(
    database,
    z.object({ runs: z.number(), packedRuns: z.number(), isTopicKnown: z.boolean() }),
    sql`select (
       select count(*)::integer from run
       where run.roster_id = any (${rosterIds}) and run.kind in (${screeningKindsSql}) and run.applied_wave > 0
         and run.started_at >= ${from} and run.started_at < ${until} and run.history_removed_at is null
     ) as runs, (
       select count(*)::integer from run
       where run.roster_id = any (${rosterIds}) and run.kind in (${screeningKindsSql})
         and run.started_at >= ${from} and run.started_at < ${until} and run.history_removed_at is not null
     ) as packed_runs, exists (
       select from listed_party listed where exists (select from unnest(listed.topics) topic (code) where ${isOfTopicSql(topic)})
     ) as is_topic_known`,
  );

/** SQL: a topic (`topic.code`) is the asked one, or below it. */
const isOfTopicSql = (asked: string | null): Sql => sql`(
  lower(btrim(topic.code)) = ${asked}::text or starts_with(lower(btrim(topic.code)), ${asked}::text || '.')
)`;

const customersAtOnce = 2_000;

/**
 * The customers with an answer that a run of the span received and that counted, also one that was used again later. `topic`: only those without a
 * hit of it in the last of these answers. Those who are not screened again come first.
 */
export const readAffected = (
  database: Database,
  { from, until, rosterIds }: AffectedSpan,
  { topic, now }: { topic: string | null; now: Date },
): AsyncIterable<AffectedCustomer[]> =>
  database.cursor(
    affectedRow,
    sql`with received as materialized (
       -- Of the rosters only those runs whose answers make their states: of a live key where there is one.
       select run.run_id, run.roster_id, run.applied_wave, run.kind, run.started_at, account.is_test
       from run join account using (account_id)
       where run.started_at >= ${from} and run.started_at < ${until}
     ), answered as (
       select planned.party_id, received.run_id, received.roster_id, received.is_test, answer.response_id, answer.answered_at
       from received
       join shown_account shown on shown.roster_id = received.roster_id and shown.is_test = received.is_test
       join planned on planned.run_id = received.run_id and planned.search_order is not null
       join answer on answer.run_id = planned.run_id and answer.request_id = planned.request_id and answer.wave <= received.applied_wave
       left join reused on reused.run_id = planned.run_id and reused.party_id = planned.party_id and reused.wave is not null
       where received.roster_id = any (${rosterIds}) and received.kind in (${screeningKindsSql}) and reused.party_id is null
       union all
       select reused.party_id, received.run_id, using_run.roster_id, received.is_test, reused.response_id, reused.answered_at
       from received
       join reused on reused.answered_run_id = received.run_id
       join run using_run on using_run.run_id = reused.run_id and reused.wave <= using_run.applied_wave
       where using_run.roster_id = any (${rosterIds})
     ), last_answer as (
       select distinct on (party_id) * from answered order by party_id, answered_at desc, run_id desc
     ), again as (
       select distinct on (state.party_id, account.is_test) state.party_id, account.is_test, ${runIdSql('answering')} as run_id, state.screened_at
       from party_state state
       join account on account.account_id = state.account_id
       left join reused on reused.run_id = state.run_id and reused.party_id = state.party_id and reused.wave is not null
       join run answering on answering.run_id = coalesce(reused.answered_run_id, state.run_id)
       where answering.started_at >= ${until}
       order by state.party_id, account.is_test, state.screened_at desc
     ), judged as (
       select party.customer_id, party.is_current, last_answer.run_id, last_answer.answered_at, response.total, response.hits,
         again.party_id is not null as is_again, again.run_id as again_run_id, again.screened_at as again_at,
         exists (
           select from match join listed_party listed using (listed_id) cross join lateral unnest(listed.topics) topic (code)
           where match.response_id = last_answer.response_id and match.is_hit and ${isOfTopicSql(topic)}
         ) as has_topic
       from last_answer
       join party using (party_id)
       join response using (response_id)
       left join again on again.party_id = last_answer.party_id and again.is_test = last_answer.is_test
     ), affected as (
       select customer_id, max(run_id) as run_id, max(answered_at) as answered_at, sum(total)::integer as results, sum(hits)::integer as hits,
         bool_and(is_again) as is_again, bool_or(is_current and not is_again) as is_open,
         max(again_at) as again_at, (array_agg(again_run_id order by again_at desc nulls last))[1] as again_run_id
       from judged
       group by customer_id
       having not bool_or(has_topic)
     ), changed as (
       select party.customer_id, count(*)::integer as changes
       from change_event event
       join run later on later.run_id = event.run_id and later.started_at >= ${until}
       join party on party.party_id = event.party_id
       where later.roster_id = any (${rosterIds}) and not event.is_baseline
       group by party.customer_id
     ), alerted as (
       select party.customer_id, count(distinct event.alert_id)::integer as alerts
       from alert_event event
       join run later on later.run_id = event.run_id and later.started_at >= ${until}
       join alert using (alert_id) join party using (party_id)
       where later.roster_id = any (${rosterIds}) and event.kind in ('opened', 'reopened', 'escalated', 'returned')
       group by party.customer_id
     )
     select roster.name as roster, customer.reference, case when received.is_test then 'test' else 'live' end as mode, rank.since_then,
       ${runIdSql('received')} as run_id, affected.answered_at, affected.results, affected.hits, said.to_state as state_then,
       case when affected.is_again then affected.again_run_id end as again_run_id, case when affected.is_again then affected.again_at end as again_at,
       case when not affected.is_open or now.state in ('open_alert', 'true_match') then now.state
         when now.state is not null then 'not_screened' end as state_now,
       standing.because, coalesce(changed.changes, 0) as changes_since, coalesce(alerted.alerts, 0) as alerts_since
     from affected
     join received on received.run_id = affected.run_id
     join customer using (customer_id)
     join roster on roster.roster_id = customer.roster_id
     join shown_account shown on shown.roster_id = customer.roster_id
     left join changed using (customer_id)
     left join alerted using (customer_id)
     left join customer_standing standing on standing.customer_id = affected.customer_id and standing.account_id = shown.account_id
     left join lateral (
       select change.to_state from customer_state_change change
       where change.customer_id = affected.customer_id and change.changed_at < ${until} and change.is_test = received.is_test
       order by change.change_id desc limit 1
     ) said on true
     cross join lateral (select case when standing.customer_id is not null then ${stateAtSql('shown', now)} end as state) now
     cross join lateral (
       select case when affected.is_again then 'screened' when affected.is_open and standing.in_scope then 'not_screened' else 'left' end as since_then
     ) rank
     order by array_position(array['not_screened', 'left', 'screened'], rank.since_then), roster.name collate "C", customer.reference collate "C"`,
    customersAtOnce,
  );
