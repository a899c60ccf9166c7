import { z } from 'zod';
import type { Severity } from '../../vocabulary.js';
import { findValue, type Queryable } from '../database/database.js';
import { sql } from '../database/statement.js';

/**
 * Assigns the waiting alerts that fit all given conditions to a person, or ends their assignment, with an entry in the history of each. Gives the
 * waiting alerts and the number of new assignments. If one of `alertIds` (null for an unreadable code) does not wait, nothing is assigned.
 */
export async function assignWaitingAlerts(
  transaction: Queryable,
  choice: {
    organisation: string;
    alertIds: readonly (number | null)[] | null;
    customer: string | null;
    severity: Severity | null;
    roster: string | null;
  },
  { to, actor, now }: { to: string | null; actor: { name: string; isAttested: boolean }; now: Date },
): Promise<{ waiting: ReadonlySet<number | null>; assigned: number }> {
  const { organisation, alertIds, customer, severity, roster } = choice;
  const wanted = alertIds === null ? null : alertIds.filter((alertId) => alertId !== null);
  const alerts = await transaction.query(
    z.object({ alertId: z.number(), assignedTo: z.string().nullable() }),
    sql`select alert.alert_id, alert.assigned_to
     from alert
     where alert.state in ('open', 'pending_approval')
       and (${wanted}::bigint[] is null or alert.alert_id = any (${wanted}))
       and (${severity}::text is null or alert.severity = ${severity})
       and exists (
         select from party
         join customer on customer.customer_id = party.customer_id and (${customer}::text is null or customer.reference = ${customer})
         join roster on roster.roster_id = customer.roster_id and (${roster}::text is null or roster.name = ${roster})
         join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = ${organisation}
         where party.party_id = alert.party_id
       )
     order by alert.alert_id for update`,
  );
  const waiting = new Set<number | null>(alerts.map(({ alertId }) => alertId));
  const others = alerts.flatMap(({ alertId, assignedTo }) => (assignedTo === to ? [] : alertId));
  if (others.length === 0 || alertIds?.some((alertId) => !waiting.has(alertId))) return { waiting, assigned: 0 };
  await transaction.execute(sql`update alert set assigned_to = ${to} where alert_id = any (${others})`);
  await transaction.execute(sql`
    insert into alert_event (alert_id, kind, happened_at, severity, actor, is_attested, assigned_to)
    select alert_id, 'assigned', ${now}, severity, ${actor.name}, ${actor.isAttested}, ${to}
    from alert where alert_id = any (${others}) order by alert_id`);
  return { waiting, assigned: others.length };
}

/**
 * Whether a person of this name may decide: a login that is a member of the role nightscreen_reviewer. Null where the role does not exist.
 */
export function isKnownReviewer(database: Queryable, name: string): Promise<boolean | null> {
  return findValue(
    database,
    z.boolean().nullable(),
    sql`select case when exists (select from pg_roles where rolname = 'nightscreen_reviewer') then exists (
       select from pg_roles login
       where login.rolname = ${name} and login.rolcanlogin and pg_has_role(login.oid, 'nightscreen_reviewer', 'member')
     ) end as "isKnown"`,
  );
}
