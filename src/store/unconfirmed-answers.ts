import { z } from 'zod';
import { firstRow, type Queryable, readValue } from './database/database.js';
import { holdStates } from './screenings.js';

/** SQL: the screening was answered after the last passed round of control searches of its run ($1). */
const isUnconfirmedSql = `
  screening.outcome in ('screened', 'reused')
  and screening.batch_id > (select coalesce(confirmed_batch_id, 0) from run where run.run_id = $1)`;

/** The last saved batch of a run, which the next round of control searches can confirm; 0 before the first. */
export function readLastBatch(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    'select coalesce(max(batch_id), 0) as last from search_batch where run_id = $1',
    [runId],
  );
}

/** Confirms the answers of a run up to this batch: later control searches do not retract them. */
export async function confirmAnswers(transaction: Queryable, runId: number, lastBatchId: number): Promise<void> {
  await transaction.execute(
    'update run set confirmed_batch_id = greatest(confirmed_batch_id, $2::bigint) where run_id = $1',
    [runId, lastBatchId],
  );
}

/** The numbers of customers and of searched parties of a run with answers that no control search has confirmed. */
export async function countUnconfirmed(database: Queryable, runId: number) {
  const rows = await database.query(
    z.object({ customers: z.number(), searched: z.number() }),
    `select count(distinct party.customer_id)::integer as customers,
       count(*) filter (where screening.outcome = 'screened')::integer as searched
     from screening join party using (party_id)
     where screening.run_id = $1 and ${isUnconfirmedSql}`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

const changeColumns = `change_id, run_id, batch_id, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement,
  country_agreement, sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version`;
const columnsOf = (table: string): string => changeColumns.replaceAll(/\w+/g, `${table}.$&`);

/** Which answers of a run are retracted: those since its last passed round, all, or those to these searches. */
type TakenBack = 'unconfirmed' | 'all' | readonly number[];

/** SQL: the answer of the screening, of a run ($1), is retracted; `$2` has request ids. */
function toTakenSql(which: TakenBack): string {
  if (which === 'unconfirmed') return isUnconfirmedSql;
  const answered = `screening.outcome in ('screened', 'reused')`;
  return which === 'all' ? answered : `${answered} and screening.request_id = any ($2::bigint[])`;
}

/**
 * Retracts the answers of a run since its last passed round, or all of them. The parties fail for this reason and get their former state,
 * or none; the changes leave `change_event`. Answers and changes are kept as evidence. Returns the number of parties; 0 the second time.
 */
export async function takeBackAnswers(
  transaction: Queryable,
  runId: number,
  { reason, now, which = 'unconfirmed' }: { reason: string; now: Date; which?: 'unconfirmed' | 'all' },
): Promise<number> {
  const taken = await moveAside(transaction, runId, which, now);
  if (taken === 0) return 0;
  // A reused answer is no search, so its batch would count as one.
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2, response_id = null,
       batch_id = case when outcome = 'screened' then batch_id end
     where run_id = $1 and ${toTakenSql(which)}`,
    [runId, reason],
  );
  return taken;
}

/**
 * After a failed control search: retracts the answers since the last passed round, which prove nothing, and fails all customers that the
 * run has not searched.
 */
export async function failUnconfirmed(transaction: Queryable, runId: number, now: Date): Promise<void> {
  const reason = 'canary_failed';
  await takeBackAnswers(transaction, runId, { reason, now });
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2 where run_id = $1 and outcome = 'remaining'`,
    [runId, reason],
  );
}

/** Retracts the answers to these searches, so that they are made again. */
export async function putBackSearches(transaction: Queryable, runId: number, requestIds: readonly number[], now: Date) {
  await moveAside(transaction, runId, requestIds, now);
  await transaction.execute(
    `update screening set outcome = 'remaining', outcome_reason = null, response_id = null, batch_id = null
     where run_id = $1 and ${toTakenSql(requestIds)}`,
    [runId, [...requestIds]],
  );
}

/** Moves answers and their changes to the evidence and restores the former states; returns the number of parties. */
async function moveAside(transaction: Queryable, runId: number, which: TakenBack, now: Date): Promise<number> {
  const takenSql = toTakenSql(which);
  const searches = typeof which === 'string' ? [] : [[...which]];
  const place = `$${2 + searches.length}`;
  const taken = await transaction.execute(
    `insert into taken_back_answer (run_id, party_id, outcome, response_id, batch_id, taken_back_at, answer)
     select screening.run_id, screening.party_id, screening.outcome, screening.response_id, screening.batch_id, ${place}::timestamptz,
       ${which === 'all' ? heldAnswerSql : 'null'}
     from screening
     join run on run.run_id = screening.run_id
     left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
     where screening.run_id = $1 and ${takenSql}`,
    [runId, ...searches, now],
  );
  if (taken === 0) return 0;
  await transaction.execute(
    `with taken as (
       delete from change_event using screening
       where change_event.run_id = $1 and screening.run_id = $1 and screening.party_id = change_event.party_id and ${takenSql}
       returning ${columnsOf('change_event')}
     )
     insert into taken_back_change (${changeColumns}, taken_back_at) select ${changeColumns}, ${place}::timestamptz from taken`,
    [runId, ...searches, now],
  );
  await restoreStates(transaction, runId, `(${takenSql})`, searches);
  return taken;
}

/** SQL: the state that an answer gave its party, for a later acceptance; null for an answer that only renewed the date. */
const heldAnswerSql = `case when state.run_id = $1 and (state.former_run_id is null or state.former_answer is not null) then
  jsonb_build_object(
    'request_id', state.request_id, 'response_id', state.response_id, 'customer_version', state.customer_version,
    'settings_digest', state.settings_digest, 'state', state.state, 'reported_scores', state.reported_scores,
    'unreturned', state.unreturned
  )
end`;

async function restoreStates(transaction: Queryable, runId: number, takenSql: string, searches: readonly unknown[]) {
  /** SQL: the state is from this run ($1) and is retracted. */
  const isTakenBackSql = `
    party_state.account_id = run.account_id and party_state.run_id = run.run_id and run.run_id = $1
    and exists (
      select from screening where screening.run_id = $1 and screening.party_id = party_state.party_id and ${takenSql}
    )`;
  const parameters = [runId, ...searches];
  await holdStates(
    transaction,
    `select run.account_id, screening.party_id from screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and ${takenSql}`,
    parameters,
  );
  await transaction.execute(
    `delete from party_state using run where ${isTakenBackSql} and party_state.former_run_id is null`,
    parameters,
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
    parameters,
  );
  await transaction.execute(
    `update party_state set run_id = party_state.former_run_id, screened_at = party_state.former_screened_at,
       former_run_id = null, former_screened_at = null, former_answer = null
     from run
     where ${isTakenBackSql}`,
    parameters,
  );
}

/** The retracted changes of a run that an early mail (accepted, or still waiting) or a report has reported. */
export function countReportedAndTakenBack(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(*)::integer as changes
     from taken_back_change change join search_batch batch using (run_id, batch_id)
     where change.run_id = $1
       -- A repeated search found the same change.
       and not exists (
         select from change_event again
         where again.run_id = $1 and again.party_id = change.party_id and again.kind = change.kind and again.match_id = change.match_id
       )
       and (
       change.severity = 'critical'
         and exists (
           select from outbox warning
           -- One that still waits reports the change later, although it no longer holds. One that was given up or refused never does.
           where warning.run_id = $1 and warning.state in ('sent', 'queued')
             and change.change_id between warning.first_change_id and warning.last_change_id
         )
       or exists (
         select from report
         where report.run_id = $1 and report.manifest_sha256 is not null and report.created_at >= batch.committed_at
       )
     )`,
    [runId],
  );
}

/**
 * Restores the answers of a held run (`takeBackAnswers` with the reason `held`) for parties without a later answer: they count with their
 * own time, and their changes belong to the run. Returns the number of parties.
 */
export async function giveBackAnswers(transaction: Queryable, runId: number): Promise<number> {
  const given = await transaction.execute(
    `update screening set outcome = held.outcome, outcome_reason = null, response_id = held.response_id, batch_id = held.batch_id
     from (
       -- Of a repeated search the later answer.
       select distinct on (taken.party_id) taken.*
       from taken_back_answer taken
       join run on run.run_id = taken.run_id
       left join party_state state on state.account_id = run.account_id and state.party_id = taken.party_id
       where taken.run_id = $1 and coalesce(state.run_id < $1, true)
       order by taken.party_id, taken.batch_id desc
     ) held
     where screening.run_id = $1 and screening.party_id = held.party_id and screening.outcome = 'failed' and screening.outcome_reason = 'held'`,
    [runId],
  );
  if (given === 0) return 0;
  await holdStates(
    transaction,
    `select run.account_id, taken.party_id from taken_back_answer taken join run on run.run_id = taken.run_id
     join screening on ${givenBackSql}`,
    [runId],
  );
  // In the order in which they were found.
  await transaction.execute(
    `with given as (
       delete from taken_back_change taken using screening
       where ${givenBackSql} returning ${columnsOf('taken')}
     )
     insert into change_event (${changeColumns}) overriding system value select ${changeColumns} from given order by change_id`,
    [runId],
  );
  await transaction.execute(
    `insert into party_state (
       account_id, party_id, run_id, screened_at, request_id, response_id, customer_version, settings_digest, state, reported_scores,
       unreturned
     )
     select run.account_id, taken.party_id, $1, ${answeredAtSql}, answer.request_id, answer.response_id, answer.customer_version,
       answer.settings_digest, answer.state, nullif(answer.reported_scores, 'null'), nullif(answer.unreturned, 'null')
     from taken_back_answer taken
     join run on run.run_id = taken.run_id
     join search_batch batch on batch.run_id = taken.run_id and batch.batch_id = taken.batch_id
     join screening on ${givenBackSql}
     ${joinReuseSql}
     cross join lateral jsonb_to_record(taken.answer) as answer (
       request_id bigint, response_id bigint, customer_version integer, settings_digest text, state text, reported_scores jsonb,
       unreturned jsonb
     )
     where taken.answer is not null
     on conflict (account_id, party_id) do update set
       run_id = excluded.run_id, screened_at = excluded.screened_at, request_id = excluded.request_id,
       response_id = excluded.response_id, customer_version = excluded.customer_version, settings_digest = excluded.settings_digest,
       state = excluded.state, reported_scores = excluded.reported_scores, unreturned = excluded.unreturned,
       former_run_id = party_state.run_id, former_screened_at = party_state.screened_at, former_answer = null, failed_run_id = null`,
    [runId],
  );
  await transaction.execute(
    `update party_state set former_run_id = party_state.run_id, former_screened_at = party_state.screened_at, former_answer = null,
       run_id = $1, screened_at = ${answeredAtSql}, failed_run_id = null
     from taken_back_answer taken
     join run on run.run_id = taken.run_id
     join search_batch batch on batch.run_id = taken.run_id and batch.batch_id = taken.batch_id
     join screening on ${givenBackSql}
     ${joinReuseSql}
     where taken.answer is null and party_state.account_id = run.account_id and party_state.party_id = taken.party_id`,
    [runId],
  );
  await transaction.execute(`delete from taken_back_answer taken using screening where ${givenBackSql}`, [runId]);
  return given;
}

/** SQL: the retracted row (`taken`) belongs to a restored answer of its run ($1, `screening`). */
const givenBackSql = `
  taken.run_id = $1 and screening.run_id = $1 and screening.party_id = taken.party_id and screening.batch_id = taken.batch_id
  and screening.outcome in ('screened', 'reused')`;

/** SQL: a reused answer keeps its own time instead of the time of the run. */
const joinReuseSql = `left join screening_reuse reuse
       on taken.outcome = 'reused' and reuse.run_id = taken.run_id and reuse.party_id = taken.party_id`;
const answeredAtSql = 'coalesce(reuse.answered_at, batch.committed_at)';
