import { z } from 'zod';
import type { Database, Queryable } from '../database/database.js';
import { readValue } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { isClosing, type PackRow, type PreparedPack } from './packs.js';

const batchSize = 2_000;

/** Lines of a pack as JSON. */
export type Lines = AsyncIterable<readonly string[]>;

const sealedRow = z.object({
  /** What the line says openly, as JSON. */
  line: z.string(),
  /** What is sealed, and whose key does it: a customer, an answer, a run ... */
  text: z.string().nullable(),
  owner: z.number(),
  about: z.string(),
});
/** A line with a part that is sealed. */
export type SealedRow = z.infer<typeof sealedRow>;

const readSealed = (database: Database, rows: Sql): AsyncIterable<SealedRow[]> =>
  database.cursor(sealedRow, rows, batchSize);

async function* readLines(database: Database, rows: Sql): Lines {
  for await (const batch of database.cursor(z.object({ line: z.string() }), rows, batchSize)) {
    yield batch.map(({ line }) => line);
  }
}

/** The records of the imports of a pack. */
export const readRecords = (database: Database, { rosterId, afterImport, throughImport }: PackRow) =>
  readSealed(
    database,
    sql`select json_build_object('record', json_build_array(customer_id, version.version))::text as line,
       json_build_object('reference', customer.reference, 'riskTier', version.risk_tier, 'record', version.record)::text as text,
       customer_id as owner, 'record/' || customer_id || '/' || version.version as about
     from customer_version version join customer using (customer_id)
     where version.import_id > ${afterImport} and version.import_id <= ${throughImport} and customer.roster_id = ${rosterId}
     order by customer_id, version.version`,
  );

/** SQL: the number of the key of a reference; null for what is none. */
const referenceKeySql = ({ organisationId, rosterId }: PackRow, reference: string): Sql =>
  sql`number_text(${organisationId}, ${rosterId}::bigint || '/' || fold_reference(${rawSql(reference)}))`;

/** The rejected rows of the imports of a pack. Without a readable reference nobody can erase a row, so that its fields are left out. */
export const readRejectedRows = (database: Database, pack: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'row', json_build_array(import_id, ordinal), 'line', line, 'file', file, 'reason', reason, 'column', column_name,
         'valueClass', value_class, 'isParty', is_party
       ))::text as line,
       case when keyed.number is not null then json_build_object('reference', reference, 'fields', fields)::text end as text,
       coalesce(keyed.number, 0) as owner, 'row/' || import_id || '/' || ordinal as about
     from roster_row join roster_import using (import_id)
     cross join lateral (select ${referenceKeySql(pack, 'reference')} as number) keyed
     where import_id > ${pack.afterImport} and import_id <= ${pack.throughImport} and roster_id = ${pack.rosterId} and reason is not null
     order by import_id, ordinal`,
  );

/** The customers in scope of a run that are not in its plan, or that it can screen only by a hit. Those with a record are customers of it too. */
export const readGaps = (database: Database, pack: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object('gap', number, 'reason', reason, 'customer', customer_id))::text as line,
       case when customer_id is null then json_build_object('reference', reference)::text end as text,
       coalesce(${referenceKeySql(pack, 'reference')}, 0) as owner, 'gap/' || run_id || '/' || number as about
     from (select *, row_number() over (order by reference) as number from run_gap where run_id = ${pack.runId} and ${pack.isPlanned}) gap
     order by number`,
  );

/** SQL: the place in the chain of the pack that holds an answer. */
const answerSql = (responseId: string): Sql => sql`(
  select json_build_array(packed.id, holder.sequence) from packed join evidence_pack holder using (pack_id)
  where packed.kind = 'answer' and packed.id = ${rawSql(responseId)}
)`;

/** The searches of a run beside its plan: a single check, or a measurement of recall. */
export const readSingleSearches = (database: Database, pack: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'single', single.ordinal, 'request', single.request_id, 'answer', ${answerSql('single.response_id')},
         'failure', single.outcome_reason, 'verdict', single.verdict
       ))::text as line,
       json_build_object('name', single.name, 'facts', single.facts)::text as text,
       single.run_id as owner, 'single/' || single.run_id || '/' || single.ordinal as about
     from single_search single
     where single.run_id = ${pack.runId} and ${isClosing(pack)}
     order by single.ordinal`,
  );

/** The searches of a run up to its pack, with all their calls. */
export const readSearches = (database: Database, { runId, wave, calls }: PackRow): Lines =>
  readLines(
    database,
    sql`select json_strip_nulls(json_build_object(
       'search', search.request_id, 'calls', search.calls, 'answer', ${answerSql('search.response_id')}, 'failure', failure.reason
     ))::text as line
     from (
       select call.request_id,
         json_agg(
           json_build_array(
             call.started_at, call.ended_at, call.status,
             case call.outcome when 'in_flight' then 'unknown' else call.outcome end, call.service_request_id
           )
           order by call.started_at, call.worker, call.number
         ) as calls,
         max(call.response_id) filter (where batch.wave <= ${wave}) as response_id
       from call left join batch on batch.run_id = call.run_id and batch.worker = call.worker and batch.number = call.batch
       where call.run_id = ${runId}
         and call.number <= coalesce((${JSON.stringify(calls)}::text::jsonb ->> call.worker::text)::integer, 0)
       group by call.request_id
     ) search
     left join failure on failure.run_id = ${runId} and failure.request_id = search.request_id and coalesce(failure.wave, 0) <= ${wave}
     order by search.request_id`,
  );

/** The customers in scope of a run with their records, plans, outcomes and states. */
export const readCustomers = (database: Database, pack: PreparedPack): Lines =>
  readLines(
    database,
    sql`with holder as (
       select imported.import_id, pack.sequence
       from evidence_pack pack
       join run using (run_id)
       join roster_import imported on imported.roster_id = run.roster_id
         and imported.import_id > pack.after_import and imported.import_id <= pack.through_import
       where run.roster_id = ${pack.rosterId}
     ), planned as (
       select party.customer_id, min(party.customer_version) as version, json_agg(json_strip_nulls(json_build_object(
         'party', party.party_id, 'ordinal', party.ordinal, 'request', party.request_id, 'reason', party.plan_reason, 'outcome', judged.outcome,
         'because', judged.outcome_reason,
         'answer', case when party.is_reused then ${answerSql('party.response_id')} end
       )) order by party.party_id) as parties
       from (
         select planned.party_id, party.ordinal, planned.request_id, planned.customer_version, planned.plan_reason, planned.skipped_because, customer_id,
           planned.is_reused, failure.reason as failure,
           case when planned.wave <= ${pack.wave} then planned.response_id end as response_id,
           case when planned.wave <= ${pack.wave} then planned.wave end as wave
         from planned_party planned
         join party using (party_id)
         left join failure on failure.run_id = planned.run_id and failure.request_id = planned.request_id
           and planned.search_order is not null and coalesce(failure.wave, 0) <= ${pack.wave}
         where planned.run_id = ${pack.runId} and ${pack.isPlanned}
       ) party
       cross join lateral judge_outcome(
         party.skipped_because, party.wave, party.is_reused, party.failure,
         ${pack.provenWave}, ${pack.appliedWave}, ${pack.isHeld}, ${pack.unconfirmedBecause}
       ) judged
       group by party.customer_id
     )
     select json_build_object(
       'customer', planned.customer_id, 'record', json_build_array(version.version, holder.sequence),
       'state', (
         select to_state from customer_state_change change
         where change.customer_id = planned.customer_id and change.change_id <= ${pack.stateChange}
         order by change.change_id desc limit 1
       ),
       'parties', planned.parties
     )::text as line
     from planned
     join customer_version version on version.customer_id = planned.customer_id and version.version = planned.version
     left join holder on holder.import_id = version.import_id
     order by planned.customer_id`,
  );

/** The answers that this pack is the first to hold, as received. */
export const readAnswers = (database: Database, pack: PackRow) =>
  readSealed(
    database,
    sql`with asked as (
       select response_id, min(request_id) as request_id
       from (
         select response_id, request_id from answer where run_id = ${pack.runId} and wave <= ${pack.wave}
         union all select reused.response_id, planned.request_id
         from reused join planned on planned.run_id = reused.run_id and planned.party_id = reused.party_id
         where reused.run_id = ${pack.runId} and reused.wave <= ${pack.wave}
         union all select response_id, request_id from single_search where run_id = ${pack.runId} and ${isClosing(pack)}
       ) answered
       where response_id is not null
       group by response_id
     )
     select json_build_object('answer', response.response_id, 'request', asked.request_id)::text as line,
       response.body as text, response.response_id as owner, 'answer/' || response.response_id as about
     from packed
     join response on response.response_id = packed.id
     join asked on asked.response_id = packed.id
     where packed.pack_id = ${pack.packId} and packed.kind = 'answer'
     order by response.response_id`,
  );

/**
 * The records behind matches that a run requested. Also their ids are sealed: from one, the list gives the name that a customer had. A body that
 * an earlier run has stored is not repeated.
 */
export const readDetails = (database: Database, pack: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'detail', number, 'kind', kind, 'askedAt', asked_at, 'status', status, 'reason', reason, 'serviceRequestId', service_request_id,
         'withheldLinks', withheld_links
       ))::text as line,
       json_build_object(
         'record', record_id, 'received', encode(received_digest, 'hex'), 'digest', encode(digest, 'hex'), 'names', entity_ids, 'body', body
       )::text as text,
       number_text(${pack.organisationId}, account_id || '/' || record_id) as owner, 'detail/' || run_id || '/' || number as about
     from (
       select *, row_number() over (order by record_id collate "C") as number
       from match_detail where run_id = ${pack.runId} and ${isClosing(pack)}
     ) detail
     order by number`,
  );

/** The changes that a run found since its pack before, and what it did with alerts. */
export async function* readChanges(
  database: Database,
  { runId, wave, formerWave, formerEvent, alertEvent }: PackRow,
): AsyncGenerator<SealedRow[]> {
  yield* readSealed(
    database,
    sql`select json_build_object(
         'change', found.change_id, 'replaces', found.replaces, 'customer', party.customer_id, 'party', found.party_id, 'kind', found.kind,
         'severity', found.severity, 'rule', found.rule, 'cause', found.cause, 'isBaseline', found.is_baseline, 'wave', found.wave
       )::text as line,
       json_build_object(
         'matchId', found.match_id, 'fields', found.fields,
         'before', case when former.listed_id is not null then
           show_match(former, found.before_rank, found.before_is_hit, found.before_score) end,
         'after', case when latter.listed_id is not null then
           show_match(latter, found.after_rank, found.after_is_hit, found.after_score) end,
         'adjustments', found.adjustments, 'birthDate', found.birth_date_agreement, 'country', found.country_agreement
       )::text as text,
       party.customer_id as owner, 'change/' || found.change_id as about
     from change found
     join party using (party_id)
     left join listed_party former on former.listed_id = found.before_listed_id
     left join listed_party latter on latter.listed_id = found.after_listed_id
     where found.run_id = ${runId} and found.wave > ${formerWave} and found.wave <= ${wave}
     order by found.change_id`,
  );
  yield* readSealed(
    database,
    sql`select json_build_object(
         'event', event.event_id, 'alert', event.alert_id, 'customer', party.customer_id, 'party', alert.party_id, 'kind', event.kind, 'happenedAt', event.happened_at,
         'reasons', event.reasons, 'severity', event.severity
       )::text as line,
       case when listed.listed_id is not null then
         json_build_object('match', show_match(listed, event.rank, event.is_hit, event.score))::text end as text,
       party.customer_id as owner, 'event/' || event.event_id as about
     from alert_event event join alert using (alert_id) join party using (party_id)
     left join listed_party listed on listed.listed_id = event.listed_id
     where event.run_id = ${runId} and event.event_id > ${formerEvent} and event.event_id <= ${alertEvent}
     order by event.event_id`,
  );
}

/** The changes of dossiers that a sweep found. A later sweep of the account may have taken them over. */
export const readDossierChanges = (database: Database, pack: PackRow): Lines =>
  readLines(
    database,
    sql`select json_build_object(
         'dossierChange', change_id, 'dossier', dossier_id, 'kind', change.kind, 'fields', fields,
         'statusBefore', before -> 'status', 'statusAfter', after -> 'status', 'seenAt', seen_at
       )::text as line
     from dossier_change change join run using (run_id)
     where run.account_id = ${pack.accountId} and change_id > ${pack.afterDossierChange} and change_id <= ${pack.throughDossierChange}
     order by change_id`,
  );

/** The events of discrepancies: those of the run, and what people have accepted since the pack before. Without a customer no facts are sealed. */
export const readDiscrepancies = (database: Database, { packId }: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'discrepancyEvent', event.event_id, 'discrepancy', discrepancy_id, 'customer', customer_id,
         'dossier', case when customer_id is null then dossier_id end, 'about', discrepancy.kind, 'kind', event.kind,
         'severity', event.severity, 'happenedAt', event.happened_at, 'reviewer', event.reviewer, 'isAttested', event.is_attested,
         'acceptedUntil', event.accepted_until
       ))::text as line,
       case when customer_id is not null then
         json_build_object('dossier', dossier_id, 'facts', event.facts, 'reason', event.reason)::text end as text,
       coalesce(customer_id, 0) as owner, 'discrepancy/' || event.event_id as about
     from packed
     join discrepancy_event event on event.event_id = packed.id
     join discrepancy using (discrepancy_id)
     where packed.pack_id = ${packId} and packed.kind = 'discrepancy'
     order by event.event_id`,
  );

/** What people and policies have decided about alerts since the pack before. */
export const readDispositions = (database: Database, { packId }: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'disposition', said.disposition_id, 'alert', said.alert_id, 'customer', party.customer_id, 'kind', said.kind, 'verdict', said.verdict,
         'reviewer', said.reviewer, 'isAttested', said.is_attested, 'decidedAt', said.decided_at, 'origin', said.origin,
         'refersTo', said.refers_to, 'expiresAt', said.expires_at, 'textDigest', encode(said.text_digest, 'hex')
       ))::text as line,
       json_build_object('reason', words.reason, 'comment', words.comment, 'seen', words.seen)::text as text,
       party.customer_id as owner, 'disposition/' || said.disposition_id as about
     from packed
     join disposition said on said.disposition_id = packed.id
     join alert using (alert_id)
     join party using (party_id)
     left join disposition_text words on words.disposition_id = said.disposition_id
     where packed.pack_id = ${packId} and packed.kind = 'disposition'
     order by said.disposition_id`,
  );

/** What people have accepted since the pack before. Their words may name a customer. */
export const readAcceptances = (database: Database, { packId }: PackRow) =>
  readSealed(
    database,
    sql`select json_strip_nulls(json_build_object(
         'acceptance', acceptance_id, 'kind', accepted.kind, 'run', run_id, 'isProposal', is_proposal, 'acceptedBy', accepted_by,
         'isAttested', is_attested, 'acceptedAt', accepted_at, 'proposedBy', proposed_by, 'settingsDigest', digest, 'gap', gap, 'rows', rows,
         'until', until
       ))::text as line,
       json_build_object(
         'reason', reason, 'reference', reference, 'differences', differences, 'heldBy', held_by, 'changes', changes
       )::text as text,
       acceptance_id as owner, 'acceptance/' || acceptance_id as about
     from packed join acceptance accepted on accepted.acceptance_id = packed.id
     where packed.pack_id = ${packId} and packed.kind = 'acceptance'
     order by acceptance_id`,
  );

/** The reports that were written since the pack before. */
export const readReports = (database: Database, { packId }: PackRow): Lines =>
  readLines(
    database,
    sql`select json_build_object(
         'report', json_build_array(report.run_id, report.revision), 'sha256', report.manifest_sha256, 'createdAt', report.created_at
       )::text as line
     from packed join report on report.run_id = packed.id and report.revision = packed.part
     where packed.pack_id = ${packId} and packed.kind = 'report'
     order by report.run_id, report.revision`,
  );

/** The customers who were erased since the pack before. */
export const readErasures = (database: Database, { packId }: PackRow): Lines =>
  readLines(
    database,
    sql`select json_build_object(
         'erased', customer_id, 'at', erased_at, 'by', erased_by, 'isAttested', is_attested, 'reason', reason, 'removed', removed
       )::text as line
     from packed join erasure on erasure.customer_id = packed.id
     where packed.pack_id = ${packId} and packed.kind = 'erasure'
     order by customer_id`,
  );

/** What run.json says of a run that has ended, as text. */
export const readRunJson = (database: Queryable, { runId, packId }: PackRow): Promise<string> =>
  readValue(
    database,
    z.string(),
    sql`select jsonb_pretty(jsonb_build_object(
       'schema', 'nightscreen/evidence-run/1',
       'run', jsonb_build_object(
         'runId', run.run_id, 'kind', run.kind, 'mode', run.mode, 'roster', roster.name, 'account', account.public_key,
         'baseUrl', account.base_url, 'state', run.state, 'stateReasons', run.state_reasons, 'haltedBy', run.halted_by,
         'selection', run.selection, 'startedAt', run.started_at, 'finishedAt', run.finished_at, 'resumed', run.resumed,
         'version', run.version, 'keys', run.keys, 'settingsDigest', run.settings_digest
       ),
       'waves', jsonb_build_object(
         'searched', pack.wave, 'proven', pack.proven_wave, 'applied', pack.applied_wave, 'isHeld', pack.is_held,
         'unconfirmedBecause', pack.unconfirmed_because
       ),
       'counts', case when pack.is_planned and run.in_scope is not null and run.state <> 'unbalanced' then run.sums -> 'counts' end, 'states', run.sums -> 'states', 'unaccepted', case when pack.is_planned then coalesce(run.unaccepted, '{}') else '{}' end,
       'health', run.health, 'watch', run.watch, 'sweep', run.sweep, 'settings', run.settings,
       'workers', (
         select jsonb_agg(jsonb_build_object(
           'worker', worker, 'owner', owner, 'takenAt', taken_at, 'differences', differences, 'calls', calls
         ) order by worker) from run_worker where run_worker.run_id = run.run_id
       ),
       'imports', (
         select jsonb_agg(to_jsonb(imported) - '{import_id,run_id,roster_id,dropped_parties,doubts}'::text[] order by import_id)
         from roster_import imported where imported.run_id = run.run_id
       ),
       'controls', (
         select jsonb_agg(jsonb_build_object(
           'round', control.round, 'ordinal', control.ordinal, 'type', control.type, 'name', control.name, 'expect', control.expect,
           'topics', control.topics, 'verdict', control.verdict, 'found', control.found, 'askedAt', control.asked_at, 'occasion', control.occasion,
           'answer', response.body
         ) order by control.round, control.ordinal)
         from control_outcome control left join response using (response_id) where control.run_id = run.run_id
       ),
       'holds', (
         select jsonb_agg(jsonb_build_object(
           'kind', hold.kind, 'reasons', hold.reasons, 'customers', hold.customers, 'states', hold.states, 'heldAt', hold.held_at
         ) order by hold.kind) from run_hold hold where hold.run_id = run.run_id
       ),
       'acceptances', (
         select jsonb_agg(acceptance_id order by acceptance_id) from acceptance accepted
         where accepted.run_id = run.run_id or accepted.acceptance_id = run.settings_id
       ),
       'reconciliations', (
         select jsonb_agg(to_jsonb(compared) - '{reconciliation_id,run_id,roster_id}'::text[])
         from reconciliation compared where compared.run_id = run.run_id
       )
     )) as text
     from evidence_pack pack
     join run using (run_id)
     left join roster on roster.roster_id = run.roster_id
     left join account on account.account_id = run.account_id
     where pack.pack_id = ${packId} and run.run_id = ${runId}`,
  );
