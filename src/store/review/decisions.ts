import { z } from 'zod';
import type { SeenFacts } from '../../matches/alert.js';
import type { OpenAlertsFacts } from '../../reports/run-facts.js';
import {
  type FactsOf,
  matchSchema,
  openAlertsSchema,
  partySchema,
  seenCustomerSchema,
  seenFactsSchema,
} from '../../vocabulary/facts.js';
import {
  absences,
  alertStates,
  type DispositionVerdict,
  dispositionVerdicts,
  runModes,
  type Severity,
  severities,
  worstTopics,
} from '../../vocabulary.js';
import { type Queryable, readValue } from '../database/database.js';
import { json, sql } from '../database/statement.js';
import { keptDetailsSql } from '../night/match-details.js';
import { joinPartySql, partyFactsSql, seenCustomerSql } from '../row-shapes.js';
import { type ProjectionScope, saveReportSheet, toNewsSql } from './waiting.js';

const alertRow = z.object({
  alertId: z.number(),
  partyId: z.number(),
  accountId: z.number(),
  reference: z.string(),
  state: z.enum(alertStates),
  /** Null while the match is listed. */
  absence: z.enum(absences).nullable(),
  severity: z.enum(severities),
  /** The most serious topic family of the listed party. */
  topic: z.enum(worstTopics),
  /** Whether it makes the customer a true match. */
  isTrueMatch: z.boolean(),
  listed: matchSchema,
  /** The record with which the match was last seen. */
  customer: seenCustomerSchema,
  /** The decision or proposal in force. */
  current: z
    .object({
      dispositionId: z.number(),
      verdict: z.enum(dispositionVerdicts),
      reviewer: z.string(),
      /** The proposer of a decision that another person has confirmed. */
      proposer: z.string().nullable(),
      isFinal: z.boolean(),
      /** The facts that it was decided on; null once they are erased, and where they cannot be read. */
      seen: seenFactsSchema.nullable(),
    })
    .nullable(),
  /** The numbers of all its dispositions, oldest first. */
  decisions: z.array(z.number()),
});
/** An alert with all facts that a decision about it depends on. */
export type DecidableAlert = FactsOf<typeof alertRow>;

/**
 * Locks alerts and the states of their parties until the transaction ends: of two people who decide at the same time, the second sees the
 * decision of the first.
 */
export async function holdAlerts(transaction: Queryable, organisationId: number, alertIds: readonly number[]) {
  const ids = [...new Set(alertIds)].sort((left, right) => left - right);
  // Reviewers and runs lock in the same order, alerts before states, so that no deadlock occurs.
  await transaction.execute(sql`
    select from alert where account_id in (select account_id from account where organisation_id = ${organisationId}) and alert_id = any (${ids})
    order by alert_id for update`);
  await transaction.execute(sql`select hold_party_states(${ids}::bigint[])`);
  return readDecidableAlerts(transaction, organisationId, ids);
}

/** The current facts of an organisation's alerts, by id. */
export async function readDecidableAlerts(database: Queryable, organisationId: number, alertIds: readonly number[]) {
  const rows = await database.query(
    alertRow,
    sql`select alert.alert_id, alert.party_id, alert.account_id, owner.reference, alert.state, alert.absence, alert.severity,
       alert.topic, alert.is_true_match, alert.listed, ${seenCustomerSql} as customer,
       case when latest.disposition_id is not null then jsonb_build_object(
         'dispositionId', latest.disposition_id, 'verdict', latest.verdict, 'reviewer', latest.reviewer,
         'proposer', proposal.reviewer, 'isFinal', latest.kind <> 'proposed', 'seen', latest.seen
       ) end as current,
       array(select made.disposition_id from disposition made where made.alert_id = alert.alert_id order by 1) as decisions
     from alert_with_match alert
     join account on account.account_id = alert.account_id and account.organisation_id = ${organisationId}
     join party on party.party_id = alert.party_id
     join customer owner on owner.customer_id = party.customer_id
     join customer_version version on version.customer_id = party.customer_id and version.version = alert.customer_version
     left join disposition_with_text latest on latest.disposition_id = alert.disposition_id
     left join disposition proposal on proposal.disposition_id = latest.refers_to
     where alert.alert_id = any (${alertIds})`,
  );
  return new Map(rows.map((row) => [row.alertId, row]));
}

const historyRow = z.object({
  alertId: z.number(),
  roster: z.string(),
  mode: z.enum(runModes),
  party: partySchema,
  /** Other customers of whom a party is searched for by the same name and type: its stored answers are theirs too. */
  namesakes: z.number(),
  listed: matchSchema,
  state: z.enum(alertStates),
  absence: z.enum(absences).nullable(),
  severity: z.enum(severities),
  dueAt: z.date().nullable(),
  details: z.array(
    z.object({
      kind: z.enum(['activity', 'entity']),
      id: z.string(),
      fetchedAt: z.coerce.date(),
      digest: z.string(),
      withheldLinks: z.number(),
      body: z.string(),
    }),
  ),
  openedAt: z.date(),
  assignedTo: z.string().nullable(),
  history: z.array(
    z.object({
      at: z.coerce.date(),
      what: z.string(),
      who: z.string().nullable(),
      isAttested: z.boolean(),
      reason: z.string(),
      comment: z.string().nullable(),
    }),
  ),
});

/** Every alert of the customers of this reference, in all rosters, with its history. */
export function readAlertHistories(database: Queryable, organisation: string, reference: string) {
  return database.query(
    historyRow,
    sql`select alert.alert_id, roster.name as roster, case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party,
       (
         select count(distinct other.customer_id)::integer from party other
         where other.request_id = party.request_id and other.customer_id <> party.customer_id
       ) as namesakes,
       alert.listed, alert.state, alert.absence, alert.severity, alert.opened_at, alert.due_at, alert.assigned_to,
       (
         select coalesce(jsonb_agg(jsonb_build_object(
           'at', reported.at, 'what', reported.what, 'who', reported.who, 'isAttested', reported.is_attested,
           'reason', reported.reason, 'comment', reported.comment
         ) order by reported.at, reported.place), '[]')
         from (
           select happened_at as at, event_id as place, case when kind <> 'assigned' then kind || ' ' || severity
               else coalesce('assigned to ' || assigned_to, 'assigned to nobody') end as what,
             actor as who, is_attested, array_to_string(reasons, ', ') as reason, null as comment
           from alert_event where alert_event.alert_id = alert.alert_id
           union all
           select decided_at, disposition_id,
             kind || coalesce(' ' || verdict, ''),
             reviewer, is_attested, reason, comment
           from disposition_with_text said where said.alert_id = alert.alert_id
           union all
           select (legacy ->> 'importedAt')::timestamptz, 0,
             case when legacy -> 'isSample' = 'true' then 'sampled ' else 'legacy ' end || (legacy ->> 'verdict'),
             legacy ->> 'decidedBy', true, legacy ->> 'reason',
             'decided ' || (legacy ->> 'decidedAt') || ' in an older system, brought by ' || (legacy ->> 'reviewer')
               || coalesce('; ' || (legacy ->> 'comment'), '')
           where legacy is not null
         ) reported
       ) as history,
       ${keptDetailsSql('alert')} as details
     from alert_with_match alert
     ${joinPartySql('alert')}
     join roster on roster.roster_id = customer.roster_id
     join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = ${organisation}
     join account on account.account_id = alert.account_id
     where customer.reference = ${reference}
     order by roster.name, alert.alert_id`,
  );
}

/** Adds a decision to the history of a locked alert; a trigger of the database then sets the alert's state and the reported score. */
export async function saveDisposition(
  transaction: Queryable,
  decision: {
    alertId: number;
    kind: 'decided' | 'proposed' | 'approved' | 'undone';
    /** Null for `undone`. */
    verdict: DispositionVerdict | null;
    reviewer: { name: string; isAttested: boolean };
    reason: string;
    comment?: string | null;
    origin: 'review' | 'legacy' | 'policy';
    seen: SeenFacts;
    expiresAt?: Date | null;
    refersTo?: number | null;
    /** The working list that it came from; an unknown number counts as none. */
    sheetId?: number | null;
    /** The new due time of the alert; only for `undone`. */
    dueAt?: Date | null;
  },
  now: Date,
): Promise<void> {
  const { alertId, kind, verdict, reviewer, reason, comment = null, origin, seen } = decision;
  const { expiresAt = null, refersTo = null, sheetId = null, dueAt = null } = decision;
  await transaction.execute(sql`
    with words as (
      select gen_random_uuid() as salt, ${reason}::text as reason, ${comment}::text as comment, ${json(seen)} as seen
    ),
    said as (
      insert into disposition (
        alert_id, kind, verdict, reviewer, is_attested, decided_at, origin, text_digest, expires_at, refers_to, sheet_id, due_at
      )
      select ${alertId}, ${kind}, ${verdict}, ${reviewer.name}, ${reviewer.isAttested}, ${now}, ${origin},
        digest_disposition_text(salt, reason, comment, seen), ${expiresAt}, ${refersTo},
        (
          select sheet_id from review_sheet
          where sheet_id = ${sheetId} and organisation_id = (
            select organisation_id from alert join account using (account_id) where alert_id = ${alertId}
          )
        ), ${dueAt}
      from words
      returning disposition_id
    )
    insert into disposition_text (disposition_id, salt, reason, comment, seen)
    select disposition_id, salt, reason, comment, seen from said, words`);
}

const ruleRow = z.object({ accountId: z.number(), severities: z.array(z.enum(severities)) });

/**
 * Gives the severities that need two people on an account: those of the settings, and those that the organisation's last run has stored and
 * that local settings cannot relax. The database enforces the stored ones.
 */
export async function readFourEyes(
  database: Queryable,
  accountIds: readonly number[],
  local: readonly Severity[],
): Promise<(accountId: number | null) => ReadonlySet<Severity>> {
  const rows = await database.query(
    ruleRow,
    sql`select account_id, find_four_eyes(organisation_id) as severities from account where account_id = any (${[...new Set(accountIds)]})`,
  );
  return (accountId) => {
    const stored = rows.find((row) => row.accountId === accountId);
    return new Set([...local, ...(stored?.severities ?? [])]);
  };
}

/** Counts what waits for reviewers of a roster's customers on an account at `now`, and stores it with the run. */
export function saveOpenAlerts(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  now: Date,
): Promise<OpenAlertsFacts> {
  return readValue(
    transaction,
    openAlertsSchema,
    sql`with news as materialized (${toNewsSql([runId])}),
     waiting as (
       select alert.alert_id in (select alert_id from news where news <> 'expired') as is_news,
         alert.alert_id in (select alert_id from news where news = 'expired') as is_expired,
         alert.topic, alert.severity, alert.assigned_to, alert.state, alert.opened_at, alert.absence, party.customer_id,
         coalesce(alert.due_at < ${now}::timestamptz, false) as is_overdue, ${now}::timestamptz - alert.opened_at as age
       from alert
       join party on party.party_id = alert.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
       where alert.account_id = ${accountId} and alert.state in ('open', 'pending_approval')
     )
     update run set open_alerts = (
       select jsonb_build_object(
         'waiting', count(*), 'customers', count(distinct customer_id), 'absent', count(absence), 'overdue', count(*) filter (where is_overdue),
         'unassigned', count(*) filter (where assigned_to is null),
         'proposed', count(*) filter (where state = 'pending_approval'), 'oldestAt', min(opened_at),
         'news', jsonb_build_object(
           'alerts', count(*) filter (where is_news),
           'sanctionHits', count(*) filter (where is_news and topic = 'sanction'),
           'expired', count(*) filter (where is_expired)
         ),
         'bySeverity', (
           select coalesce(jsonb_agg(jsonb_build_object('severity', severity, 'waiting', alerts, 'overdue', late)
             order by array_position(${severities}::text[], severity)), '[]')
           from (
             select severity, count(*) as alerts, count(*) filter (where is_overdue) as late from waiting group by severity
           ) tally
         ),
         'byAssignee', (
           select coalesce(jsonb_agg(jsonb_build_object('name', assigned_to, 'waiting', alerts, 'overdue', late)
             order by alerts desc, assigned_to), '[]')
           from (
             select assigned_to, count(*) as alerts, count(*) filter (where is_overdue) as late
             from waiting where assigned_to is not null group by assigned_to
           ) tally
         ),
         'byAge', jsonb_build_object(
           'upToOneDay', count(*) filter (where age <= interval '1 day'),
           'upToOneWeek', count(*) filter (where age > interval '1 day' and age <= interval '7 days'),
           'upToThirtyDays', count(*) filter (where age > interval '7 days' and age <= interval '30 days'),
           'older', count(*) filter (where age > interval '30 days')
         )
       )
       from waiting
     )
     where run.run_id = ${runId}
     returning open_alerts as alerts`,
  );
}

/** Stores the report sheet, the decided alerts and the waiting ones of a roster's customers on an account with the run that closes. */
export async function saveReviewState(
  transaction: Queryable,
  runId: number,
  scope: ProjectionScope,
  { now, maxItems }: { now: Date; maxItems: number },
): Promise<OpenAlertsFacts> {
  await saveReportSheet(transaction, runId, scope, { now, maxItems });
  await saveSettledAlerts(transaction, runId, scope);
  return saveOpenAlerts(transaction, runId, scope, now);
}

/** Counts the decided alerts of a roster's customers on an account, and what this run did with decisions, and stores it with the run. */
async function saveSettledAlerts(transaction: Queryable, runId: number, { rosterId, accountId }: ProjectionScope) {
  await transaction.execute(sql`
    with decided as (
      select alert.state, alert.is_true_match, disposition.verdict, coalesce(screening.outcome in ('screened', 'reused'), false) as is_screened
      from alert
      join disposition on disposition.disposition_id = alert.disposition_id
      join party on party.party_id = alert.party_id
      join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
      left join screening on screening.run_id = ${runId} and screening.party_id = alert.party_id
      where alert.account_id = ${accountId}
    ), reported as (
      select alert_id, kind, bool_or('expired' = any (reasons)) as is_expired
      from alert_event where run_id = ${runId} and kind in ('reopened', 'auto_closed', 'absent') group by alert_id, kind
    )
    update run set settled_alerts = (
      select jsonb_build_object(
        'falsePositive', count(*) filter (where state = 'false_positive'),
        'trueMatch', count(*) filter (where is_true_match),
        'inconclusive', count(*) filter (where state = 'open' and verdict = 'inconclusive'),
        'carried', count(*) filter (where (state = 'false_positive' or is_true_match) and is_screened)
      ) from decided
    ) || (
      select jsonb_build_object(
        'reopened', count(*) filter (where kind = 'reopened' and not is_expired),
        'expired', count(*) filter (where kind in ('reopened', 'absent') and is_expired),
        'gone', count(*) filter (where kind = 'auto_closed')
      ) from reported
    )
    where run.run_id = ${runId}`);
}
