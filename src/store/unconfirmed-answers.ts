import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** SQL: the screening was answered after the last round of control searches of its run ($1) that passed. */
export const isUnconfirmedSql = `
  screening.outcome in ('screened', 'reused')
  and screening.batch_id > (select coalesce(confirmed_batch_id, 0) from run where run.run_id = $1)`;

/** The last batch that a run has saved: what a round of control searches that begins now can confirm. 0 before the first. */
export async function readLastBatch(database: Queryable, runId: number): Promise<number> {
  const rows = await database.query(
    z.object({ last: z.number() }),
    'select coalesce(max(batch_id), 0) as last from commit_batch where run_id = $1',
    [runId],
  );
  return firstRow(rows, 'commit_batch').last;
}

/** Confirms what a run has saved up to and including this batch: no later control search takes it back. */
export async function confirmAnswers(transaction: Queryable, runId: number, lastBatchId: number): Promise<void> {
  await transaction.execute(
    'update run set confirmed_batch_id = greatest(confirmed_batch_id, $2::bigint) where run_id = $1',
    [runId, lastBatchId],
  );
}

/** How many customers a run has answered for whose answers no control search has confirmed. */
export async function countUnconfirmed(database: Queryable, runId: number): Promise<number> {
  const rows = await database.query(
    z.object({ customers: z.number() }),
    `select count(distinct party.customer_id)::integer as customers
     from screening join party using (party_id)
     where screening.run_id = $1 and ${isUnconfirmedSql}`,
    [runId],
  );
  return firstRow(rows, 'screening').customers;
}

/**
 * Takes back what a run has answered since its last passed round: the parties fail for this reason, have again the state that they had
 * before, or none, and the changes leave `change_event`. Answers and changes are kept beside as evidence. Gives how many parties; none the
 * second time.
 */
export async function takeBackAnswers(
  transaction: Queryable,
  runId: number,
  { reason, now }: { reason: string; now: Date },
): Promise<number> {
  const taken = await transaction.execute(
    `insert into taken_back_answer (run_id, party_id, outcome, response_id, batch_id, taken_back_at)
     select run_id, party_id, outcome, response_id, batch_id, $2 from screening where run_id = $1 and ${isUnconfirmedSql}`,
    [runId, now],
  );
  if (taken === 0) return 0;
  await takeBackChanges(transaction, runId, now);
  await restoreStates(transaction, runId);
  // A reused answer cost no search, so its batch would count as one.
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2, response_id = null,
       batch_id = case when outcome = 'screened' then batch_id end
     where run_id = $1 and ${isUnconfirmedSql}`,
    [runId, reason],
  );
  return taken;
}

async function takeBackChanges(transaction: Queryable, runId: number, now: Date): Promise<void> {
  const columns = `change_id, run_id, batch_id, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement,
    country_agreement, sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version`;
  await transaction.execute(
    `with taken as (
       delete from change_event
       where run_id = $1 and batch_id > (select coalesce(confirmed_batch_id, 0) from run where run.run_id = $1)
       returning ${columns}
     )
     insert into taken_back_change (${columns}, taken_back_at) select ${columns}, $2::timestamptz from taken`,
    [runId, now],
  );
}

/** SQL: the state is one that this run ($1) has given and taken back. */
const isTakenBackSql = `
  party_state.account_id = run.account_id and party_state.run_id = run.run_id and run.run_id = $1
  and exists (
    select from taken_back_answer taken where taken.run_id = $1 and taken.party_id = party_state.party_id
  )`;

async function restoreStates(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    `delete from party_state using run where ${isTakenBackSql} and party_state.former_run_id is null`,
    [runId],
  );
  await transaction.execute(
    `update party_state set
       request_id = former.request_id, response_id = former.response_id, customer_version = former.customer_version,
       settings_digest = former.settings_digest, state = former.state, reported_scores = former.reported_scores,
       unreturned = former.unreturned
     from run, party_state own
     cross join lateral jsonb_to_record(own.former_answer) as former (
       request_id bigint, response_id bigint, customer_version integer, settings_digest text, state text, reported_scores jsonb,
       unreturned jsonb
     )
     where ${isTakenBackSql} and own.account_id = party_state.account_id and own.party_id = party_state.party_id
       and party_state.former_answer is not null`,
    [runId],
  );
  await transaction.execute(
    `update party_state set run_id = party_state.former_run_id, screened_at = party_state.former_screened_at,
       former_run_id = null, former_screened_at = null, former_answer = null
     from run
     where ${isTakenBackSql}`,
    [runId],
  );
}

/** How many changes of a run were told, by provisional mail or in a report of the run when it was stopped, before they were taken back. */
export async function countToldAndTakenBack(database: Queryable, runId: number): Promise<number> {
  const rows = await database.query(
    z.object({ changes: z.number() }),
    `select count(*)::integer as changes
     from taken_back_change change join commit_batch batch using (batch_id)
     where change.run_id = $1 and (
       change.severity = 'critical'
         and change.change_id <= (select max(last_change_id) from early_warning where run_id = $1 and accepted_at is not null)
       or exists (
         select from report
         where report.run_id = $1 and report.manifest_sha256 is not null and report.created_at >= batch.committed_at
       )
     )`,
    [runId],
  );
  return firstRow(rows, 'taken_back_change').changes;
}
