import { z } from 'zod';
import { instant, matchSchema, seenCustomerSchema, seenFactsSchema, texts } from '../../vocabulary/facts.js';
import {
  customerStates,
  dispositionVerdicts,
  packEndings,
  partyRoles,
  partyTypes,
  planReasons,
  runKinds,
  runModes,
  runStates,
  severities,
} from '../../vocabulary.js';
import { findRow, findValue, type Queryable, readRow, readValue } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { screeningKindsSql, storedMatchesSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';

const customerRow = z.object({ customerId: z.number(), rosterId: z.number(), roster: z.string() });
/** A customer of a roster. */
export type FoundCustomer = z.infer<typeof customerRow> & { reference: string };

/** The customers of this reference, in all rosters of an organisation or in one. */
export async function findCustomers(
  database: Queryable,
  organisation: string,
  reference: string,
  roster: string | null,
): Promise<readonly FoundCustomer[]> {
  const rows = await database.query(
    customerRow,
    sql`select customer.customer_id, customer.roster_id, roster.name as roster
     from organisation
     join roster using (organisation_id)
     join customer on customer.roster_id = roster.roster_id and customer.reference = ${reference}
     where organisation.name = ${organisation} and (${roster}::text is null or roster.name = ${roster})
     order by roster.name collate "C"`,
  );
  return rows.map((row) => ({ ...row, reference }));
}

/** Why no record of a reference was ever accepted, by roster; empty for other references. */
export const findUnaccepted = (database: Queryable, organisation: string, reference: string) =>
  database.query(
    z.object({ roster: z.string(), reason: z.string(), since: z.date() }),
    sql`select roster.name as roster, unaccepted.reason, unaccepted.since
     from organisation
     join roster using (organisation_id)
     join unaccepted_customer unaccepted on unaccepted.roster_id = roster.roster_id and unaccepted.reference = ${reference}
     where organisation.name = ${organisation}
     order by roster.name collate "C"`,
  );

/** SQL: the screening runs of a roster, newest first; each is looked up by its key until one fits. */
const newestRunSql = (rosterId: number, fits: Sql): Sql => sql`
  select run.run_id from run
  where run.roster_id = ${rosterId} and run.kind in (${screeningKindsSql}) and ${fits}
  order by run.run_id desc limit 1`;

/** The newest run that had a customer in scope and began at or before a moment; null without one. */
export const findRunInScope = (
  database: Queryable,
  { customerId, rosterId, reference }: FoundCustomer,
  at: Date,
): Promise<number | null> =>
  findValue(
    database,
    z.number(),
    newestRunSql(
      rosterId,
      sql`run.started_at <= ${at} and (
        exists (
          select from party join planned on planned.run_id = run.run_id and planned.party_id = party.party_id
          where party.customer_id = ${customerId}
        )
        or exists (select from run_gap gap where gap.run_id = run.run_id and gap.reference = ${reference})
      )`,
    ),
  );

/** The newest run before another one that searched for a party, or used an earlier answer; null without one. */
export const findRunOfParty = (database: Queryable, rosterId: number, partyId: number, before: number) =>
  findValue(
    database,
    z.number(),
    newestRunSql(
      rosterId,
      sql`run.run_id < ${before} and exists (
        select from planned
        where planned.run_id = run.run_id and planned.party_id = ${partyId} and planned.search_order is not null
      )`,
    ),
  );

/** Whether answers about a customer counted at a moment, also those of runs that the database no longer has. */
export const hadAnswers = (database: Queryable, customerId: number, at: Date): Promise<boolean> =>
  readValue(
    database,
    z.boolean(),
    sql`select exists (
       select from customer_state_change where customer_id = ${customerId} and changed_at <= ${at} and as_of is not null
     ) as had`,
  );

const runRow = z.object({
  runNumber: z.number(),
  runId: z.string(),
  kind: z.enum(runKinds),
  mode: z.enum(runModes),
  /** As it is now: acceptance changes it. */
  state: z.enum(runStates),
  stateReasons: texts,
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  version: z.string(),
  settingsDigest: z.string(),
  accountId: z.number().nullable(),
  /** How far its answers counted at the moment: as in `evidence_pack`. */
  provenWave: z.number(),
  appliedWave: z.number(),
  isHeld: z.boolean(),
  unconfirmedBecause: z.string().nullable(),
  /** Control searches, each time that they were sent. */
  controls: z.object({ passed: z.number(), failed: z.number() }),
  hold: z.object({ reasons: texts, heldAt: instant }).nullable(),
  acceptances: z.array(
    z.object({
      acceptedBy: z.string(),
      isAttested: z.boolean(),
      isProposal: z.boolean(),
      reason: z.string(),
      acceptedAt: instant,
    }),
  ),
  /** Why only a hit counts for the customer, or why it is not in the plan; null for others. */
  gap: z.string().nullable(),
  reports: z.array(z.object({ revision: z.number(), createdAt: instant, manifestSha256: z.string().nullable() })),
  mails: z.array(
    z.object({
      kind: z.string(),
      revision: z.number().nullable(),
      to: z.string().nullable(),
      state: z.string(),
      queuedAt: instant,
      /** When the server accepted it; null until then. */
      sentAt: instant.nullable(),
      messageId: z.string().nullable(),
    }),
  ),
  /** False where its settings turn evidence off. */
  hasPacks: z.boolean(),
  packs: z.array(
    z.object({
      number: z.number(),
      ending: z.enum(packEndings),
      queuedAt: instant,
      /** Null until it has its place in the chain. */
      sequence: z.number().nullable(),
      manifestSha256: z.string().nullable(),
      /** Null while it waits. */
      writtenAt: instant.nullable(),
    }),
  ),
});
/** A run with what was known of it at a moment. */
export type ShownRun = z.infer<typeof runRow>;

/**
 * SQL: joins to `run` how far its answers counted at a moment (`counted`). They counted as now where the run has not changed since. Otherwise its
 * pack of that time says it; without one, none counted yet.
 */
export const joinCountedSql = ({ at, isNow }: Pick<Moment, 'at' | 'isNow'>): Sql => sql`
  cross join lateral (select ${isNow}::boolean or coalesce(run.finished_at <= ${at}, false) as is_same) known
  left join lateral (
    select * from evidence_pack kept
    where not known.is_same and kept.run_id = run.run_id and kept.queued_at <= ${at}
    order by kept.number desc limit 1
  ) pack on true
  cross join lateral (
    select
      case when known.is_same then run.proven_wave else coalesce(pack.proven_wave, 0) end as proven_wave,
      case when known.is_same then run.applied_wave else coalesce(pack.applied_wave, 0) end as applied_wave,
      case when known.is_same then run.is_held else coalesce(pack.is_held, exists (
        select from run_hold early where early.run_id = run.run_id and early.kind = 'answers' and early.held_at <= ${at}
      )) end as is_held,
      case when known.is_same or pack.number is null then run.unconfirmed_because else pack.unconfirmed_because end as unconfirmed_because
  ) counted`;

/** A run and how far its answers counted at a moment. */
export function readShownRun(
  database: Queryable,
  runId: number,
  { customerId, reference, at, isNow }: Moment,
): Promise<ShownRun> {
  return readRow(
    database,
    runRow,
    sql`select run.run_id as run_number, ${runIdSql('run')} as run_id, run.kind, run.mode, run.state, run.state_reasons, run.started_at,
       run.finished_at, run.version, run.settings_digest, run.account_id,
       counted.proven_wave, counted.applied_wave, counted.is_held, counted.unconfirmed_because,
       (
         select json_build_object('passed', count(*) filter (where verdict = 'passed'), 'failed', count(*) filter (where verdict = 'failed'))
         from control_outcome control where control.run_id = run.run_id
       ) as controls,
       case when hold.run_id is not null then json_build_object('reasons', hold.reasons, 'heldAt', hold.held_at) end as hold,
       (
         select coalesce(json_agg(json_build_object(
           'acceptedBy', accepted.accepted_by, 'isAttested', accepted.is_attested, 'isProposal', accepted.is_proposal,
           'reason', accepted.reason, 'acceptedAt', accepted.accepted_at
         ) order by acceptance_id), '[]')
         from acceptance accepted where accepted.run_id = run.run_id and accepted.kind = 'answers'
       ) as acceptances,
       (select gap.reason from run_gap gap where gap.run_id = run.run_id and gap.reference in (${reference}, 'erased:' || ${customerId}::bigint)) as gap,
       (
         select coalesce(json_agg(json_build_object(
           'revision', revision, 'createdAt', created_at, 'manifestSha256', manifest_sha256
         ) order by revision), '[]') from report where report.run_id = run.run_id
       ) as reports,
       (
         select coalesce(json_agg(json_build_object(
           'kind', mail.kind, 'revision', mail.revision, 'to', mail.destination, 'state', mail.state, 'queuedAt', mail.queued_at,
           'sentAt', mail.sent_at, 'messageId', mail.message_id
         ) order by outbox_id), '[]')
         from outbox mail where mail.run_id = run.run_id and mail.kind in ('mail_report', 'mail_warning', 'mail_failure')
       ) as mails,
       run.settings #> '{evidence,dir}' is distinct from 'null' as has_packs,
       (
         select coalesce(json_agg(json_build_object(
           'number', one.number, 'ending', one.ending, 'queuedAt', one.queued_at, 'sequence', one.sequence, 'manifestSha256', one.manifest_sha256,
           'writtenAt', one.written_at
         ) order by one.number), '[]') from evidence_pack one where one.run_id = run.run_id
       ) as packs
     from run
     ${joinCountedSql({ at, isNow })}
     left join run_hold hold on hold.run_id = run.run_id and hold.kind = 'answers'
     where run.run_id = ${runId}`,
  );
}

/** The customer and the moment that are looked at; `isNow`: nothing has happened since. */
export interface Moment extends FoundCustomer {
  at: Date;
  isNow: boolean;
}

const callSchema = z.object({
  startedAt: instant,
  endedAt: instant.nullable(),
  status: z.number().nullable(),
  outcome: z.string(),
  serviceRequestId: z.string().nullable(),
});

/** A party of a run; `isApplied` and `isProven` make an answer that screens nobody a failure. */
export const partyRow = z
  .object({
    partyId: z.number(),
    /** Null for a party that the record no longer has. */
    role: z.enum(partyRoles).nullable(),
    /** As sent to the service. */
    type: z.enum(partyTypes),
    name: z.string(),
    customerVersion: z.number(),
    reason: z.enum([...planReasons, 'not_due']),
    outcome: z.enum(['screened', 'reused', 'failed', 'skipped', 'remaining']),
    because: z.string().nullable(),
    /** Whether its answer was applied, and is of a run that control searches vouch for. */
    isApplied: z.boolean(),
    isProven: z.boolean(),
    /** The run that received the answer, where another one did. */
    reusedFrom: z.string().nullable(),
    answeredAt: z.date().nullable(),
    calls: z.array(callSchema),
    answer: z
      .object({
        number: z.number(),
        total: z.number(),
        truncated: z.boolean(),
        hits: z.number(),
        /** The pack that holds it; null until one does. */
        pack: z.number().nullable(),
        matches: z.array(matchSchema),
      })
      .nullable(),
  })
  // An answer that is not applied, or not proven, screens nobody.
  .transform(({ isApplied, isProven, ...party }) => {
    const counts = party.outcome === 'screened' || party.outcome === 'reused';
    if (counts && !isApplied) return { ...party, outcome: 'remaining' as const, because: 'not_applied' };
    if (counts && !isProven) return { ...party, outcome: 'failed' as const, because: 'not_confirmed' };
    return party;
  });
/** A party of a customer in a run. */
export type ShownParty = z.infer<typeof partyRow>;

/** SQL: an answer with its matches and the pack that holds it, as `partyRow` reads it. */
export const shownAnswerSql = (responseId: string): Sql => sql`(
  select json_build_object(
    'number', response.response_id, 'total', response.total, 'truncated', response.truncated, 'hits', response.hits,
    'matches', ${storedMatchesSql(responseId)},
    'pack', (
      select holder.sequence from packed join evidence_pack holder using (pack_id)
      where packed.kind = 'answer' and packed.id = response.response_id and packed.part = 0
    )
  )
  from response where response.response_id = ${rawSql(responseId)}
)`;

/** The parties of a customer in a run with their calls and answers up to a moment; only these, unless null. */
export function readShownParties(
  database: Queryable,
  run: ShownRun,
  { customerId, at }: Moment,
  partyIds: readonly number[] | null,
): Promise<readonly ShownParty[]> {
  const { runNumber, provenWave, appliedWave, isHeld, unconfirmedBecause } = run;
  return database.query(
    partyRow,
    sql`select planned.party_id, version.record -> 'parties' -> party.ordinal ->> 'role' as role, request.type, request.name,
       planned.customer_version, planned.plan_reason as reason, judged.outcome, judged.outcome_reason as because,
       coalesce(answered.wave <= ${appliedWave}, false) as is_applied,
       ${run.mode === 'test'} or case when reused.party_id is null then ${provenWave}::integer else answering.proven_wave end > 0 as is_proven,
       case when reused.party_id is not null then ${runIdSql('answering')} end as reused_from,
       case when answered.wave is not null then planned.answered_at end as answered_at,
       (
         select coalesce(json_agg(json_build_object(
           'startedAt', call.started_at, 'endedAt', call.ended_at, 'status', call.status, 'outcome', call.outcome,
           'serviceRequestId', call.service_request_id
         ) order by call.started_at, call.worker, call.number), '[]')
         from call
         where call.run_id = answering.run_id and call.request_id = planned.request_id and call.started_at <= ${at}
           and planned.search_order is not null
       ) as calls,
       case when answered.wave is not null then ${shownAnswerSql('planned.response_id')} end as answer
     from party
     cross join lateral (
       select * from planned_party where planned_party.run_id = ${runNumber} and planned_party.party_id = party.party_id offset 0
     ) planned
     join screening_request request on request.request_id = planned.request_id
     join customer_version version on version.customer_id = party.customer_id and version.version = planned.customer_version
     left join failure on failure.run_id = ${runNumber} and failure.request_id = planned.request_id and planned.search_order is not null
     left join reused on reused.run_id = ${runNumber} and reused.party_id = planned.party_id and reused.wave is not null
     join run answering on answering.run_id = coalesce(reused.answered_run_id, planned.run_id)
     cross join lateral (select case when planned.answered_at <= ${at} then planned.wave end as wave) answered
     cross join lateral judge_outcome(
       planned.skipped_because, answered.wave, planned.is_reused, failure.reason,
       ${provenWave}::integer, ${appliedWave}::integer, ${isHeld}::boolean, ${unconfirmedBecause}::text
     ) judged
     where party.customer_id = ${customerId} and (${partyIds}::bigint[] is null or party.party_id = any (${partyIds}))
     order by party.ordinal`,
  );
}

const stateRow = z.object({
  state: z.enum(customerStates),
  reason: z.string().nullable(),
  changedAt: z.date(),
});

/** The state of a customer at a moment, as last recorded before; null before the first. */
export const findStateAt = (database: Queryable, { customerId, at }: Moment, mode: ShownRun['mode']) =>
  findRow(
    database,
    stateRow,
    sql`select to_state as state, reason, changed_at from customer_state_change
     where customer_id = ${customerId} and is_test = ${mode === 'test'} and changed_at <= ${at}
     order by change_id desc limit 1`,
  );

const recordRow = z.object({
  version: z.number(),
  riskTier: z.string().nullable(),
  importedAt: z.date(),
  parties: z.array(seenCustomerSchema.nullable()),
});

/** The record of a customer at a moment; null before the first. */
export const findRecordAt = (database: Queryable, { customerId, at }: Moment) =>
  findRow(
    database,
    recordRow,
    sql`select version.version, version.risk_tier, imported.imported_at, version.record -> 'parties' as parties
     from customer_version version join roster_import imported using (import_id)
     where version.customer_id = ${customerId} and imported.imported_at <= ${at}
     order by version.version desc limit 1`,
  );

const alertRow = z.object({
  alert: z.number(),
  openedAt: z.date(),
  severity: z.enum(severities),
  /** The match as last seen. */
  listed: matchSchema,
  events: z.array(z.object({ at: instant, kind: z.string(), reasons: texts, actor: z.string().nullable() })),
  dispositions: z.array(
    z.object({
      number: z.number(),
      kind: z.enum(['decided', 'proposed', 'approved', 'undone']),
      verdict: z.enum(dispositionVerdicts).nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      decidedAt: instant,
      origin: z.string(),
      reason: z.string(),
      comment: z.string().nullable(),
      /** The facts that the reviewer saw; null once they are erased. */
      seen: seenFactsSchema.nullable(),
      pack: z.number().nullable(),
    }),
  ),
});
/** An alert with its history up to a moment. */
export type AlertThen = z.infer<typeof alertRow>;

/** The alerts of a customer on an account that were opened by a moment, with their history up to it. */
export const readAlertsAt = (
  database: Queryable,
  { customerId, at }: Moment,
  accountId: number | null,
): Promise<readonly AlertThen[]> =>
  database.query(
    alertRow,
    sql`select alert.alert_id as alert, first.opened_at, alert.severity, alert.listed,
       (
         select coalesce(json_agg(json_build_object(
           'at', event.happened_at, 'kind', event.kind, 'reasons', event.reasons, 'actor', event.actor
         ) order by event.event_id), '[]')
         from alert_event event where event.alert_id = alert.alert_id and event.happened_at <= ${at}
       ) as events,
       (
         select coalesce(json_agg(json_build_object(
           'number', said.disposition_id, 'kind', said.kind, 'verdict', said.verdict, 'reviewer', said.reviewer,
           'isAttested', said.is_attested, 'decidedAt', said.decided_at, 'origin', said.origin, 'reason', said.reason,
           'comment', said.comment, 'seen', said.seen,
           'pack', (
             select holder.sequence from packed join evidence_pack holder using (pack_id)
             where packed.kind = 'disposition' and packed.id = said.disposition_id and packed.part = 0
           )
         ) order by said.disposition_id), '[]')
         from disposition_with_text said where said.alert_id = alert.alert_id and said.decided_at <= ${at}
       ) as dispositions
     from party
     join alert_with_match alert on alert.party_id = party.party_id and alert.account_id = ${accountId}
     cross join lateral (
       select coalesce(min(event.happened_at), alert.opened_at) as opened_at
       from alert_event event where event.alert_id = alert.alert_id and event.kind = 'opened'
     ) first
     where party.customer_id = ${customerId} and first.opened_at <= ${at}
     order by alert.alert_id`,
  );
