import { z } from 'zod';
import { executeAll, type Queryable, readRow, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';
import type { RunNumbers } from './ledger.js';

/** Begins the next wave of a run; returns the one before, which a round of control searches that passes from now on proves. */
export async function endWave(transaction: Queryable, numbers: RunNumbers): Promise<number> {
  const next = await readValue(
    transaction,
    z.number(),
    sql`update run set wave = wave + 1 where run_id = ${numbers.runId} returning wave`,
  );
  numbers.beginWave(next);
  return next - 1;
}

/** Notes that control searches have proven the answers of a run up to this wave. */
export async function proveWave(transaction: Queryable, runId: number, wave: number): Promise<void> {
  await transaction.execute(sql`update run set proven_wave = greatest(proven_wave, ${wave}) where run_id = ${runId}`);
}

/** Notes why the answers after the proven wave of a run never count; the first reason stays. */
export async function noteUnproven(transaction: Queryable, runId: number, because: 'control_failed' | 'not_confirmed') {
  await transaction.execute(
    sql`update run set unconfirmed_because = coalesce(unconfirmed_because, ${because}) where run_id = ${runId}`,
  );
}

/** Notes that the proven answers of a run are withheld until a person accepts them. */
export async function holdAnswers(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`update run set is_held = true where run_id = ${runId}`);
}

/** SQL: control searches prove the answers of a run: one was made, or would have been had the run not stopped before. */
const isControlledSql = sql`(
  exists (select from control_outcome where control_outcome.run_id = run.run_id)
  or coalesce(jsonb_array_length(run.settings -> 'controls') > 0, false)
)`;

/** Whether control searches prove the answers of a run, although it may have stopped before the first one. */
export function isControlled(database: Queryable, runId: number): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select ${isControlledSql} as controlled from run where run_id = ${runId}`,
  );
}

/**
 * The last wave of a run whose answers are applied, and the last one whose answers may be: the last proven one, or without control searches
 * the last one. A run that has ended without any had only answers that other runs have proven.
 */
export function readWaves(
  database: Queryable,
  runId: number,
  { isEnded }: { isEnded: boolean },
): Promise<{ applied: number; applicable: number }> {
  return readRow(
    database,
    z.object({ applied: z.number(), applicable: z.number() }),
    sql`select applied_wave as applied, case
         when exists (select from control_outcome where run_id = ${runId}) or not ${isEnded}::boolean and ${isControlledSql} then proven_wave
         else wave
       end as applicable
     from run where run_id = ${runId}`,
  );
}

/** Locks the alerts of a run's parties before their states, as reviewers do, so that no deadlock occurs. */
export async function holdAlertsOfRun(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    sql`select from alert join run on run.run_id = ${runId} and run.account_id = alert.account_id
     where alert.state <> 'no_longer_matched' and alert.party_id in (select party_id from planned where run_id = ${runId})
     order by alert.alert_id for update of alert`,
  );
}

/** The numbers of customers and of searched parties of a run with answers that no control search has proven. */
export async function countUnproven(database: Queryable, runId: number) {
  return readRow(
    database,
    z.object({ customers: z.number(), searched: z.number() }),
    sql`select count(distinct party.customer_id)::integer as customers,
       count(*) filter (where not answer.is_reused)::integer as searched
     from party_answer answer join run using (run_id) join party using (party_id)
     where answer.run_id = ${runId} and answer.wave > run.proven_wave`,
  );
}

/** The number of customers with an answer of a run, up to this wave or in all, that is not applied. */
export function countUnapplied(database: Queryable, runId: number, upTo: number | null = null): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(distinct party.customer_id)::integer as customers
     from party_answer answer join run using (run_id) join party using (party_id)
     where answer.run_id = ${runId} and answer.wave > run.applied_wave and answer.wave <= coalesce(${upTo}, answer.wave)`,
  );
}

/** The number of parties whose answers a held run withholds, without those for whom a later run has answered. */
export function countWithheld(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(*)::integer as parties
     from party_answer answer
     join run on run.run_id = answer.run_id
     left join party_state state on state.account_id = run.account_id and state.party_id = answer.party_id
     where run.run_id = ${runId} and run.is_held and answer.wave > run.applied_wave and coalesce(state.run_id < run.run_id, true)`,
  );
}

/** SQL: scores of a party that people have decided on since its answer: what an open run found settles no disposition. */
const decidedScoresSql = sql`(
  select jsonb_object_agg(alert.match_id, alert.score order by said.disposition_id)
  from alert_with_match alert join disposition said on said.alert_id = alert.alert_id
  where alert.account_id = run.account_id and alert.party_id = answer.party_id
    and said.kind <> 'undone' and said.origin <> 'policy'
    -- The clocks of a reviewer and of a run differ.
    and said.decided_at >= answer.answered_at - interval '5 minutes'
)`;

/**
 * Applies the answers of a run up to this wave to the states of its parties. A later run takes precedence, party by party. The rows are written
 * in the order in which reviewers lock them, so that no deadlock occurs. Returns the number of parties.
 */
export async function applyAnswers(transaction: Queryable, runId: number, upTo: number): Promise<number> {
  const answeredSql = sql`
    from party_answer answer
    join run on run.run_id = answer.run_id
    left join party_state newer on newer.account_id = run.account_id and newer.party_id = answer.party_id and newer.run_id > answer.run_id
    where answer.run_id = ${runId} and answer.wave > run.applied_wave and answer.wave <= ${upTo}`;
  const parties = await readValue(
    transaction,
    z.number(),
    sql`select count(*)::integer as parties ${answeredSql} and newer.run_id is null`,
  );
  await executeAll(
    transaction,
    parties,
    sql`insert into party_state (
       account_id, party_id, run_id, request_id, response_id, customer_version, screened_at, settings_digest, state, reported_scores, unreturned
     )
     select run.account_id, answer.party_id, run.run_id, answer.request_id, answer.response_id, answer.customer_version, answer.answered_at,
       coalesce(next.settings_digest, former.settings_digest), coalesce(next.state, former.state),
       case when next.party_id is not null then nullif(coalesce(next.reported_scores, '{}') || coalesce(${decidedScoresSql}, '{}'), '{}') end,
       next.unreturned
     from party_answer answer
     join run on run.run_id = answer.run_id
     left join next_state next on next.run_id = answer.run_id and next.party_id = answer.party_id
     left join party_state former on former.account_id = run.account_id and former.party_id = answer.party_id
     where answer.run_id = ${runId} and answer.wave > run.applied_wave and answer.wave <= ${upTo}
       and coalesce(former.run_id < answer.run_id, true)
     order by answer.party_id
     on conflict (party_id, account_id) do update set
       run_id = excluded.run_id, request_id = excluded.request_id, response_id = excluded.response_id,
       customer_version = excluded.customer_version, screened_at = excluded.screened_at, settings_digest = excluded.settings_digest,
       state = excluded.state, failed_run_id = null,
       reported_scores = case when ${isReplacedSql} then excluded.reported_scores else party_state.reported_scores end,
       unreturned = case when ${isReplacedSql} then excluded.unreturned else party_state.unreturned end`,
  );
  await transaction.execute(
    sql`update next_state set is_superseded = true
     where run_id = ${runId} and party_id in (select answer.party_id ${answeredSql} and newer.run_id is not null)`,
  );
  // What is saved from now on is applied later.
  await executeAll(
    transaction,
    1,
    sql`update run set applied_wave = greatest(applied_wave, ${upTo}), wave = greatest(wave, ${upTo} + 1), is_held = false where run_id = ${runId}`,
  );
  return parties;
}

/** SQL: the answer makes more of the state than a new date. */
const isReplacedSql = sql`exists (
  select from next_state next where next.run_id = excluded.run_id and next.party_id = excluded.party_id
)`;

/** Stores which parties a run failed, so that the next plan includes them whatever their screening frequency is. */
export async function noteFailedParties(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    sql`insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, screened_at, settings_digest, state)
     select state.account_id, state.party_id, state.run_id, state.request_id, state.response_id, state.customer_version, state.screened_at,
       state.settings_digest, state.state
     from screening
     join run on run.run_id = screening.run_id
     join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
     where screening.run_id = ${runId} and screening.outcome = 'failed'
     order by state.party_id
     on conflict (party_id, account_id) do update set failed_run_id = ${runId}`,
  );
}

/**
 * The number of unapplied changes of a run that an early mail (accepted, or still waiting) has reported.
 */
export function countReportedUnapplied(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(*)::integer as changes
     from change join run using (run_id)
     where change.run_id = ${runId} and change.wave > run.applied_wave and change.severity = 'critical' and exists (
       select from outbox warning
       -- One that still waits reports the change later, although it does not count. One that was given up or refused never does.
       where warning.run_id = ${runId} and warning.state in ('sent', 'queued')
         and change.change_id between warning.first_change_id and warning.last_change_id
     )`,
  );
}
