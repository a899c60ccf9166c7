import { z } from 'zod';
import { firstRow, type Queryable, readValue, requireRows } from './database/database.js';
import { unpackScreenings } from './plan-blocks.js';
import { holdStates } from './screenings.js';

/** SQL: the last batch of a run ($1) that control searches have confirmed; 0 without one. */
const confirmedBatchSql = '(select coalesce(confirmed_batch_id, 0) from run where run.run_id = $1)';

/** SQL: the screening was answered after the last passed round of control searches of its run ($1). */
const isUnconfirmedSql = `
  screening.outcome in ('screened', 'reused')
  and screening.batch_id > ${confirmedBatchSql}`;

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
     from open_screening screening join party using (party_id)
     where screening.run_id = $1 and ${isUnconfirmedSql}`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

/** Why answers do not count; the parties of a run that fails for it get this reason. */
type RetractionReason = 'control_failed' | 'not_confirmed' | 'held';

/** Which answers of a run are retracted: those since its last passed round, all, or those to these searches. */
type Retracted = 'unconfirmed' | 'all' | readonly number[];

/** SQL: the answer of the screening, of a run ($1), is retracted; `$2` has request ids. */
function toRetractedSql(which: Retracted): string {
  if (which === 'unconfirmed') return isUnconfirmedSql;
  const answered = `screening.outcome in ('screened', 'reused')`;
  return which === 'all' ? answered : `${answered} and screening.request_id = any ($2::bigint[])`;
}

/**
 * Retracts the answers of a run since its last passed round, or all of them. The parties fail for this reason and get their former state,
 * or none; their changes no longer count. Answers and changes are kept as evidence. Returns the number of parties; 0 the second time.
 */
export async function takeBackAnswers(
  transaction: Queryable,
  runId: number,
  { reason, now, which = 'unconfirmed' }: { reason: RetractionReason; now: Date; which?: 'unconfirmed' | 'all' },
): Promise<number> {
  const parties = await retract(transaction, runId, { which, kind: reason, now });
  if (parties === 0) return 0;
  // A reused answer is no search, so its batch would count as one.
  await transaction.execute(
    `update planned_screening screening set outcome = 'failed', outcome_reason = $2, response_id = null,
       batch_id = case when outcome = 'screened' then batch_id end
     where run_id = $1 and ${toRetractedSql(which)}`,
    [runId, reason],
  );
  return parties;
}

/**
 * After a failed control search: retracts the answers since the last passed round, which prove nothing, and fails all customers that the
 * run has not searched.
 */
export async function failUnconfirmed(transaction: Queryable, runId: number, now: Date): Promise<void> {
  const reason = 'control_failed';
  await takeBackAnswers(transaction, runId, { reason, now });
  await unpackScreenings(transaction, `screening.outcome = 'remaining'`, [runId]);
  await transaction.execute(
    `update planned_screening screening set outcome = 'failed', outcome_reason = $2 where run_id = $1 and outcome = 'remaining'`,
    [runId, reason],
  );
}

/** Retracts the answers to these searches, so that they are made again. */
export async function putBackSearches(transaction: Queryable, runId: number, requestIds: readonly number[], now: Date) {
  await retract(transaction, runId, { which: requestIds, kind: 'searched_again', now });
  await transaction.execute(
    `update planned_screening screening set outcome = 'remaining', outcome_reason = null, response_id = null, batch_id = null
     where run_id = $1 and ${toRetractedSql(requestIds)}`,
    [runId, [...requestIds]],
  );
}

/** Control searches of one round can fail at once: whoever comes later finds what the first has retracted. */
async function holdRun(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('select from run where run_id = $1 for no key update', [runId]);
}

/** Notes which answers are retracted and restores the former states; returns the number of parties. */
async function retract(
  transaction: Queryable,
  runId: number,
  { which, kind, now }: { which: Retracted; kind: RetractionReason | 'searched_again'; now: Date },
): Promise<number> {
  const retractedSql = toRetractedSql(which);
  const searches = typeof which === 'string' ? [] : [[...which]];
  const [place, kindPlace] = [`$${2 + searches.length}::timestamptz`, `$${3 + searches.length}`];
  await holdRun(transaction, runId);
  await unpackScreenings(transaction, retractedSql, [runId, ...searches]);
  const parties = await transaction.execute(
    `insert into retracted_answer (run_id, party_id, batch_id, outcome, response_id, retracted_at, ${stateColumns.join(', ')})
     select screening.run_id, screening.party_id, screening.batch_id, screening.outcome, screening.response_id, ${place},
       ${stateColumns.map((column) => `state.${column}`).join(', ')}
     from planned_screening screening
     join run on run.run_id = screening.run_id
     left join party_state state
       on ${which === 'all'} and state.account_id = run.account_id and state.party_id = screening.party_id and state.run_id = $1
         -- Others had only their date renewed.
         and (state.former_run_id is null or state.former_answer is not null)
     where screening.run_id = $1 and ${retractedSql}`,
    [runId, ...searches, now],
  );
  if (parties === 0) return 0;
  // All answers since a batch are a range; those to some searches are named, batch by batch.
  const noted = await transaction.execute(
    `insert into retraction (run_id, first_batch_id, last_batch_id, party_ids, kind, retracted_at)
     ${
       typeof which === 'string'
         ? `select $1, min(batch_id), max(batch_id), null::bigint[], ${kindPlace}, ${place} from search_batch
            where run_id = $1 ${which === 'all' ? '' : `and batch_id > ${confirmedBatchSql}`}`
         : `select $1, batch_id, batch_id, array_agg(party_id order by party_id), ${kindPlace}, ${place}
            from planned_screening screening where run_id = $1 and ${retractedSql} group by batch_id`
     }`,
    [runId, ...searches, now, kind],
  );
  requireRows(Math.min(noted, 1), 1, 'retraction');
  await restoreStates(transaction, runId, `(${retractedSql})`, searches);
  return parties;
}

/** What a state says by its answer, beside the answer's number. */
const stateColumns = ['request_id', 'customer_version', 'settings_digest', 'state', 'reported_scores', 'unreturned'];

/**
 * SQL: reported scores with those that people have decided on since; a retraction undoes no disposition. `party` has the columns account_id
 * and party_id.
 */
const addDecidedScores = (scores: string, party: string, since: string): string => `
  nullif(coalesce(${scores}, '{}') || coalesce((
    select jsonb_object_agg(alert.match_id, alert.score order by said.disposition_id)
    from alert_with_match alert join disposition said on said.alert_id = alert.alert_id
    where alert.account_id = ${party}.account_id and alert.party_id = ${party}.party_id
      and said.kind <> 'undone' and said.origin <> 'policy'
      -- The clocks of a reviewer and of a run differ.
      and said.decided_at >= ${since} - interval '5 minutes'
  ), '{}'), '{}')`;

async function restoreStates(
  transaction: Queryable,
  runId: number,
  retractedSql: string,
  searches: readonly unknown[],
) {
  /** SQL: the state is from this run ($1) and is retracted. */
  const isRetractedSql = `
    party_state.account_id = run.account_id and party_state.run_id = run.run_id and run.run_id = $1
    and exists (
      select from planned_screening screening where screening.run_id = $1 and screening.party_id = party_state.party_id and ${retractedSql}
    )`;
  const parameters = [runId, ...searches];
  await holdStates(
    transaction,
    `select run.account_id, screening.party_id from planned_screening screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and ${retractedSql}`,
    parameters,
  );
  await transaction.execute(
    `delete from party_state using run where ${isRetractedSql} and party_state.former_run_id is null`,
    parameters,
  );
  await transaction.execute(
    `update party_state set
       request_id = former.request_id, response_id = former.response_id, customer_version = former.customer_version,
       settings_digest = former.settings_digest, state = former.state, unreturned = former.unreturned,
       reported_scores = ${addDecidedScores('former.reported_scores', 'party_state', 'party_state.screened_at')}
     from run, party_state own
     cross join lateral jsonb_to_record(own.former_answer) as former (
       request_id bigint, response_id bigint, customer_version integer, settings_digest text, state text, reported_scores jsonb,
       unreturned jsonb
     )
     where ${isRetractedSql} and own.account_id = party_state.account_id and own.party_id = party_state.party_id
       and party_state.former_answer is not null`,
    parameters,
  );
  await transaction.execute(
    `update party_state set run_id = party_state.former_run_id, batch_id = null, screened_at = party_state.former_screened_at,
       former_run_id = null, former_screened_at = null, former_answer = null
     from run
     where ${isRetractedSql}`,
    parameters,
  );
}

/** The retracted changes of a run that an early mail (accepted, or still waiting) or a report has reported. */
export function countReportedAndTakenBack(database: Queryable, runId: number): Promise<number> {
  const covers = (retracted: string): string => `
    ${retracted}.run_id = $1 and change.batch_id between ${retracted}.first_batch_id and ${retracted}.last_batch_id
    and (${retracted}.party_ids is null or change.party_id = any (${retracted}.party_ids))`;
  return readValue(
    database,
    z.number(),
    `select count(*)::integer as changes
     from change_record change join search_batch batch using (run_id, batch_id)
     where change.run_id = $1
       and exists (select from retraction_in_force retracted where ${covers('retracted')})
       -- A repeated search found the same change.
       and not exists (
         select from change_event again
         where again.run_id = $1 and again.party_id = change.party_id and again.kind = change.kind and again.match_id = change.match_id
       )
       and (
         change.severity = 'critical' and exists (
           select from outbox warning
           -- One that still waits reports the change later, although it no longer holds. One that was given up or refused never does.
           where warning.run_id = $1 and warning.state in ('sent', 'queued')
             and change.change_id between warning.first_change_id and warning.last_change_id
         )
         or exists (
           select from report
           -- One that was made later does not list it.
           where report.run_id = $1 and report.manifest_sha256 is not null and report.created_at between batch.committed_at
             and (select min(retracted_at) from retraction earliest where ${covers('earliest')})
         )
       )`,
    [runId],
  );
}

/** SQL: the answers of a held run ($1) to parties without a later one; of a repeated search the later answer. */
const withheldSql = `
  select distinct on (taken.party_id) taken.*
  from retracted_answer taken
  join run on run.run_id = taken.run_id
  left join party_state state on state.account_id = run.account_id and state.party_id = taken.party_id
  where taken.run_id = $1 and coalesce(state.run_id < $1, true)
  order by taken.party_id, taken.batch_id desc`;

/** The number of parties whose answers `giveBackAnswers` would restore. */
export function countWithheld(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(*)::integer as parties
     from planned_screening screening join (${withheldSql}) held using (run_id, party_id) where ${isHeldSql}`,
    [runId],
  );
}

/**
 * Restores the answers of a held run (`takeBackAnswers` with the reason `held`) for parties without a later answer: they count with their
 * own time, and with its acceptance, which the caller saves, their changes too. The others stay retracted. Returns the number of parties.
 */
export async function giveBackAnswers(transaction: Queryable, runId: number, now: Date): Promise<number> {
  const given = await transaction.execute(
    `update planned_screening screening set outcome = held.outcome, outcome_reason = null, response_id = held.response_id, batch_id = held.batch_id
     from (${withheldSql}) held
     where screening.run_id = $1 and screening.party_id = held.party_id and ${isHeldSql}`,
    [runId],
  );
  if (given === 0) return 0;
  await transaction.execute(
    `insert into retraction (run_id, first_batch_id, last_batch_id, party_ids, kind, retracted_at)
     select $1, taken.batch_id, taken.batch_id, array_agg(taken.party_id order by taken.party_id), 'superseded', $2::timestamptz
     from retracted_answer taken join planned_screening screening on screening.run_id = $1 and screening.party_id = taken.party_id
     where taken.run_id = $1 and ${isHeldSql}
     group by taken.batch_id`,
    [runId, now],
  );
  await holdStates(
    transaction,
    `select run.account_id, taken.party_id from retracted_answer taken join run on run.run_id = taken.run_id
     join planned_screening screening on ${givenBackSql}`,
    [runId],
  );
  await transaction.execute(
    `insert into party_state (account_id, party_id, run_id, batch_id, response_id, screened_at, ${stateColumns.join(', ')})
     select run.account_id, taken.party_id, $1, taken.batch_id, taken.response_id, ${answeredAtSql},
       ${stateColumns
         .map((column) =>
           column === 'reported_scores'
             ? addDecidedScores('taken.reported_scores', 'held', 'taken.retracted_at')
             : `taken.${column}`,
         )
         .join(', ')}
     from retracted_answer taken
     join run on run.run_id = taken.run_id
     join search_batch batch on batch.run_id = taken.run_id and batch.batch_id = taken.batch_id
     join planned_screening screening on ${givenBackSql}
     ${joinReuseSql}
     cross join lateral (select run.account_id, taken.party_id) held
     where taken.state is not null
     on conflict (account_id, party_id) do update set
       run_id = excluded.run_id, batch_id = excluded.batch_id, screened_at = excluded.screened_at, request_id = excluded.request_id,
       response_id = excluded.response_id, customer_version = excluded.customer_version, settings_digest = excluded.settings_digest,
       state = excluded.state, reported_scores = excluded.reported_scores, unreturned = excluded.unreturned,
       former_run_id = party_state.run_id, former_screened_at = party_state.screened_at, former_answer = null, failed_run_id = null`,
    [runId],
  );
  await transaction.execute(
    `update party_state set former_run_id = party_state.run_id, former_screened_at = party_state.screened_at, former_answer = null,
       run_id = $1, batch_id = taken.batch_id, screened_at = ${answeredAtSql}, failed_run_id = null
     from retracted_answer taken
     join run on run.run_id = taken.run_id
     join search_batch batch on batch.run_id = taken.run_id and batch.batch_id = taken.batch_id
     join planned_screening screening on ${givenBackSql}
     ${joinReuseSql}
     where party_state.account_id = run.account_id and party_state.party_id = taken.party_id
       and taken.state is null`,
    [runId],
  );
  return given;
}

/** SQL: the answer of the screening is withheld because its run is held. */
const isHeldSql = "screening.outcome = 'failed' and screening.outcome_reason = 'held'";

/** SQL: the retracted row (`taken`) belongs to a restored answer of its run ($1, `screening`). */
const givenBackSql = `
  taken.run_id = $1 and screening.run_id = $1 and screening.party_id = taken.party_id and screening.batch_id = taken.batch_id
  and screening.outcome in ('screened', 'reused')`;

/** SQL: a reused answer keeps its own time instead of the time of the run. */
const joinReuseSql = `left join plan_exception reuse
       on taken.outcome = 'reused' and reuse.run_id = taken.run_id and reuse.party_id = taken.party_id`;
const answeredAtSql = 'coalesce(reuse.answered_at, batch.committed_at)';
