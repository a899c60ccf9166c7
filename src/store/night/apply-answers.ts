import { z } from 'zod';
import { firstRow, type Queryable, readValue, requireRows } from '../database/database.js';
import type { RunNumbers } from './ledger.js';

/** Begins the next wave of a run; returns the one before, which a round of control searches that passes from now on proves. */
export async function endWave(transaction: Queryable, numbers: RunNumbers): Promise<number> {
  const next = await readValue(
    transaction,
    z.number(),
    'update run set wave = wave + 1 where run_id = $1 returning wave',
    [numbers.runId],
  );
  numbers.beginWave(next);
  return next - 1;
}

/** Notes that control searches have proven the answers of a run up to this wave. */
export async function proveWave(transaction: Queryable, runId: number, wave: number): Promise<void> {
  await transaction.execute('update run set proven_wave = greatest(proven_wave, $2) where run_id = $1', [runId, wave]);
}

/** Notes why the answers after the proven wave of a run never count; the first reason stays. */
export async function noteUnproven(transaction: Queryable, runId: number, because: 'control_failed' | 'not_confirmed') {
  await transaction.execute(
    'update run set unconfirmed_because = coalesce(unconfirmed_because, $2) where run_id = $1',
    [runId, because],
  );
}

/** Notes that the proven answers of a run are withheld until a person accepts them. */
export async function holdAnswers(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('update run set is_held = true where run_id = $1', [runId]);
}

/**
 * The last wave of a run whose answers are applied, and the last one whose answers may be: the last proven one, or without control searches
 * the last one.
 */
export async function readWaves(database: Queryable, runId: number): Promise<{ applied: number; applicable: number }> {
  const rows = await database.query(
    z.object({ applied: z.number(), applicable: z.number() }),
    `select applied_wave as applied,
       case when exists (select from control_outcome where run_id = $1) then proven_wave else wave end as applicable
     from run where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'run');
}

/** The numbers of customers and of searched parties of a run with answers that no control search has proven. */
export async function countUnproven(database: Queryable, runId: number) {
  const rows = await database.query(
    z.object({ customers: z.number(), searched: z.number() }),
    `select count(distinct party.customer_id)::integer as customers,
       count(*) filter (where not answer.is_reused)::integer as searched
     from party_answer answer join run using (run_id) join party using (party_id)
     where answer.run_id = $1 and answer.wave > run.proven_wave`,
    [runId],
  );
  return firstRow(rows, 'party_answer');
}

/** The number of customers with an answer of a run, up to this wave or in all, that is not applied. */
export function countUnapplied(database: Queryable, runId: number, upTo: number | null = null): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(distinct party.customer_id)::integer as customers
     from party_answer answer join run using (run_id) join party using (party_id)
     where answer.run_id = $1 and answer.wave > run.applied_wave and answer.wave <= coalesce($2, answer.wave)`,
    [runId, upTo],
  );
}

/** The number of parties whose answers a held run withholds, without those for whom a later run has answered. */
export function countWithheld(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(*)::integer as parties
     from party_answer answer
     join run on run.run_id = answer.run_id
     left join party_state state on state.account_id = run.account_id and state.party_id = answer.party_id
     where run.run_id = $1 and run.is_held and answer.wave > run.applied_wave and coalesce(state.run_id < run.run_id, true)`,
    [runId],
  );
}

/** SQL: scores of a party that people have decided on since its answer: what an open run found settles no disposition. */
const decidedScoresSql = `(
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
  const parties = await transaction.execute(
    `insert into party_state (
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
     where answer.run_id = $1 and answer.wave > run.applied_wave and answer.wave <= $2
       and coalesce(former.run_id < answer.run_id, true)
     order by answer.party_id
     on conflict (party_id, account_id) do update set
       run_id = excluded.run_id, request_id = excluded.request_id, response_id = excluded.response_id,
       customer_version = excluded.customer_version, screened_at = excluded.screened_at, settings_digest = excluded.settings_digest,
       state = excluded.state, failed_run_id = null,
       reported_scores = case when ${isReplacedSql} then excluded.reported_scores else party_state.reported_scores end,
       unreturned = case when ${isReplacedSql} then excluded.unreturned else party_state.unreturned end`,
    [runId, upTo],
  );
  const superseded = await transaction.execute(
    `insert into superseded (run_id, party_id)
     select answer.run_id, answer.party_id
     from party_answer answer
     join run on run.run_id = answer.run_id
     join party_state newer on newer.account_id = run.account_id and newer.party_id = answer.party_id and newer.run_id > answer.run_id
     where answer.run_id = $1 and answer.wave > run.applied_wave and answer.wave <= $2`,
    [runId, upTo],
  );
  const answered = await readValue(
    transaction,
    z.number(),
    `select count(*)::integer as parties from party_answer answer join run using (run_id)
     where answer.run_id = $1 and answer.wave > run.applied_wave and answer.wave <= $2`,
    [runId, upTo],
  );
  requireRows(parties + superseded, answered, 'party_state');
  // What is saved from now on is applied later.
  const noted = await transaction.execute(
    'update run set applied_wave = $2, wave = greatest(wave, $2 + 1), is_held = false where run_id = $1',
    [runId, upTo],
  );
  requireRows(noted, 1, 'run');
  return parties;
}

/** SQL: the answer makes more of the state than a new date. */
const isReplacedSql = `exists (
  select from next_state next where next.run_id = excluded.run_id and next.party_id = excluded.party_id
)`;

/** Stores which parties a run failed, so that the next plan includes them whatever their screening frequency is. */
export async function noteFailedParties(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    `insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, screened_at, settings_digest, state)
     select state.account_id, state.party_id, state.run_id, state.request_id, state.response_id, state.customer_version, state.screened_at,
       state.settings_digest, state.state
     from screening
     join run on run.run_id = screening.run_id
     join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
     where screening.run_id = $1 and screening.outcome = 'failed'
     order by state.party_id
     on conflict (party_id, account_id) do update set failed_run_id = $1`,
    [runId],
  );
}

/**
 * The number of unapplied changes of a run that an early mail (accepted, or still waiting) has reported.
 */
export function countReportedUnapplied(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(*)::integer as changes
     from change join run using (run_id)
     where change.run_id = $1 and change.wave > run.applied_wave and change.severity = 'critical' and exists (
       select from outbox warning
       -- One that still waits reports the change later, although it does not count. One that was given up or refused never does.
       where warning.run_id = $1 and warning.state in ('sent', 'queued')
         and change.change_id between warning.first_change_id and warning.last_change_id
     )`,
    [runId],
  );
}
