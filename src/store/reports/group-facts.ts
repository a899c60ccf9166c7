import { z } from 'zod';
import { runModes, runStates, severities } from '../../vocabulary.js';
import type { Queryable } from '../database/database.js';
import { sql } from '../database/statement.js';
import { isNightSql, takenAtSql } from '../operations/metrics.js';
import { toNewsSql } from '../review/waiting.js';
import { screeningKindsSql, toSqlList } from '../row-shapes.js';
import { runIdSql, runRow } from '../runs.js';

const knownRosterRow = z.object({
  rosterId: z.number(),
  roster: z.string(),
  createdAt: z.date(),
  isImported: z.boolean(),
  /** The mode of its last run that had an account; null before the first. */
  mode: z.enum(runModes).nullable(),
});

/** All rosters of an organisation, also those that no configuration names any more. */
export async function readKnownRosters(database: Queryable, organisationId: number) {
  return database.query(
    knownRosterRow,
    sql`select roster_id, name as roster, created_at,
       exists (select from roster_import where roster_import.roster_id = roster.roster_id) as "isImported",
       (select run.mode from run where run.roster_id = roster.roster_id and run.account_id is not null order by run_id desc limit 1) as mode
     from roster where organisation_id = ${organisationId} order by name collate "C"`,
  );
}

/** The imports and screenings of an organisation that began, were resumed or were in progress in a span, in order. */
export async function readNightRuns(
  database: Queryable,
  organisationId: number,
  { from, until }: { from: Date; until: Date },
) {
  return database.query(
    runRow,
    sql`select run.* from run
     where run.organisation_id = ${organisationId} and run.kind in ('import', ${screeningKindsSql}) and run.roster_id is not null
       and run.started_at < ${until} and (run.state = 'running' or run.started_at >= ${from} or ${takenAtSql} >= ${from})
     order by run.run_id`,
  );
}

const beforeRow = z.object({ rosterId: z.number(), runId: z.string(), state: z.enum(runStates), startedAt: z.date() });

/** The last run over all due customers of each roster that began before a moment. */
export async function readNightsBefore(database: Queryable, organisationId: number, before: Date) {
  return database.query(
    beforeRow,
    sql`select distinct on (run.roster_id) run.roster_id, ${runIdSql('run')} as "runId", run.state, run.started_at
     from run
     where run.organisation_id = ${organisationId} and ${isNightSql} and run.state <> 'abandoned' and run.started_at < ${before}
     order by run.roster_id, run.run_id desc`,
  );
}

const waitingRow = z.object({
  rosterId: z.number(),
  mode: z.enum(runModes),
  severity: z.enum(severities),
  waiting: z.number(),
  overdue: z.number(),
  opened: z.number(),
  oldestAt: z.date(),
});

/** The alerts that wait by roster, mode of their account and severity; `opened`: opened or made more severe by answers of these runs. */
export async function readWaitingByRoster(
  database: Queryable,
  organisationId: number,
  { runIds, now }: { runIds: readonly number[]; now: Date },
) {
  return database.query(
    waitingRow,
    sql`with news as materialized (${toNewsSql(runIds)})
     select customer.roster_id, case when account.is_test then 'test' else 'live' end as mode, alert.severity, count(*) as waiting,
       count(*) filter (where alert.due_at < ${now}) as overdue, count(*) filter (where news.news <> 'expired') as opened,
       min(alert.opened_at) as "oldestAt"
     from alert
     join account on account.account_id = alert.account_id and account.organisation_id = ${organisationId}
     join party on party.party_id = alert.party_id
     join customer on customer.customer_id = party.customer_id
     left join news on news.alert_id = alert.alert_id
     where alert.state in ('open', 'pending_approval')
     group by customer.roster_id, account.is_test, alert.severity
     order by customer.roster_id, array_position(array[${toSqlList(severities)}], alert.severity::text)`,
  );
}

const heldRow = z.object({
  rosterId: z.number(),
  runId: z.string(),
  kind: z.enum(['answers', 'webhooks', 'roster']),
  reasons: z.array(z.string()).readonly(),
  /** The command that accepts a roster; null for other holds, and for a roster that nobody can accept. */
  command: z.string().nullable(),
});

/** What waits for acceptance: the holds of each roster's last run that ended, and webhooks that are still held. */
export async function readWaitingHolds(database: Queryable, organisationId: number) {
  return database.query(
    heldRow,
    sql`select run.roster_id, ${runIdSql('run')} as "runId", hold.kind,
       case when hold.kind = 'roster'
         then array(select found ->> 'message' from jsonb_array_elements(hold.roster -> 'heldBy') found) else hold.reasons
       end as reasons,
       nullif(hold.roster ->> 'command', '') as command
     from run_hold hold
     join run on run.run_id = hold.run_id
     where run.organisation_id = ${organisationId} and hold.kind <> 'dossiers'
       and not exists (select from accepted_run where accepted_run.run_id = hold.run_id)
       and (
         not exists (
           select from run later
           where later.roster_id = run.roster_id and later.run_id > run.run_id
             and (later.kind in (${screeningKindsSql}) or hold.kind = 'roster' and later.kind = 'import')
             and later.state in ('complete', 'incomplete') and later.selection is distinct from 'dirty'
         )
         or hold.kind = 'webhooks' and exists (select from webhook_event where webhook_event.held_run_id = run.run_id)
       )
     order by run.roster_id, run.run_id, hold.kind`,
  );
}
