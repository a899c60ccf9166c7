import { z } from 'zod';
import { runModes } from '../../vocabulary.js';
import { type Queryable, readValue } from '../database/database.js';
import { json, sql } from '../database/statement.js';
import { isOfOrganisation } from '../organisations.js';
import { runIdSql } from '../runs.js';

/**
 * The webhooks of an organisation from now on. In a transaction of its own, before the walk of `recordStateChanges`: whoever decides waits for
 * the row of the organisation.
 */
export async function saveWebhooks(
  transaction: Queryable,
  organisationId: number,
  webhooks: readonly {
    url: string;
    states?: readonly string[] | undefined;
    rosters?: readonly string[] | undefined;
  }[],
) {
  const rows = webhooks.map(({ url, states = null, rosters = null }) => ({ url, states, rosters }));
  // An unchanged list is not locked: runs of other rosters would wait for this commit.
  await transaction.execute(
    sql`update organisation set webhooks = ${json(rows)} where organisation_id = ${organisationId} and webhooks <> ${json(rows)}`,
  );
  const urls = rows.map(({ url }) => url);
  await transaction.execute(
    sql`delete from webhook_event where organisation_id = ${organisationId} and url <> all (${urls})`,
  );
}

const timeShape = z.coerce.date().nullable();
const eventRow = z.object({
  url: z.string(),
  change: z.object({
    sequence: z.number(),
    roster: z.string(),
    reference: z.string(),
    from: z.string().nullable(),
    to: z.string(),
    reason: z.string().nullable(),
    asOf: timeShape,
    dueAt: timeShape,
    expiresAt: timeShape,
    runId: z.string().nullable(),
    mode: z.enum(runModes),
    changedAt: z.coerce.date(),
  }),
});

/** Whether this login may pack changes of state into messages and note their results; reviewers need no such rights. */
export function maySendWebhooks(database: Queryable): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    `select has_table_privilege('webhook_event', 'delete') and has_table_privilege('outbox', 'insert')
       and has_table_privilege('outbox', 'update') as "isAllowed"`,
  );
}

/** SQL: the change (`waiting`) is held until its run is accepted, or follows such a change of the same customer. */
const isHeldSql = sql`exists (
  select from webhook_event held
  join customer_state_change kept on kept.change_id = held.change_id
  join customer_state_change own on own.change_id = waiting.change_id
  where held.held_run_id is not null and (held.organisation_id, held.url) = (waiting.organisation_id, waiting.url)
    and kept.customer_id = own.customer_id and kept.change_id <= own.change_id
)`;

/** Takes the oldest changes that are in no message and not held, at most `limit`, all for one webhook; empty when all are in messages. */
export function takeWebhookEvents(transaction: Queryable, organisationId: number, limit: number) {
  return transaction.query(
    eventRow,
    sql`with taken as (
       delete from webhook_event where organisation_id = ${organisationId} and (url, change_id) in (
         select url, change_id from webhook_event waiting
         where organisation_id = ${organisationId} and url = (
           select url from webhook_event waiting where organisation_id = ${organisationId} and not ${isHeldSql} order by url, change_id limit 1
         ) and not ${isHeldSql}
         order by change_id limit ${limit} for update skip locked
       )
       returning url, change_id
     )
     select taken.url, jsonb_build_object(
         'sequence', change.change_id, 'roster', roster.name, 'reference', customer.reference,
         'from', change.from_state, 'to', change.to_state, 'reason', change.reason,
         'asOf', change.as_of, 'dueAt', change.due_at, 'expiresAt', change.expires_at,
         'runId', ${runIdSql('run')},
         'mode', case when change.is_test then 'test' else 'live' end, 'changedAt', change.changed_at
       ) as change
     from taken
     join customer_state_change change using (change_id)
     join customer using (customer_id)
     join roster using (roster_id)
     left join run on run.run_id = change.run_id
     order by change.change_id`,
  );
}

/** Postpones all waiting messages of an organisation's webhook: a receiver without an answer is tried at intervals, not once for each message. */
export async function postponeWebhook(
  database: Queryable,
  organisation: string,
  url: string,
  until: Date,
): Promise<void> {
  await database.execute(
    sql`update outbox set next_attempt_at = ${until}
     where ${isOfOrganisation('outbox', organisation)} and kind = 'webhook' and destination = ${url} and state = 'queued'
       and next_attempt_at < ${until} and claimed_by is null`,
  );
}

/**
 * Makes messages of an organisation due at once, whatever their state unless dropped, and tries them until `giveUpAt` at least; all waiting messages to the same
 * addresses as well, in the order in which they were queued.
 */
export async function makeWebhooksDue(
  database: Queryable,
  organisationId: number,
  outboxIds: readonly number[],
  { now, giveUpAt }: { now: Date; giveUpAt: Date },
) {
  await database.execute(
    // At most now, in case a clock was ahead when they were queued.
    sql`update outbox set state = 'queued', next_attempt_at = least(queued_at, ${now}::timestamptz),
       give_up_at = case when outbox_id = any (${outboxIds}) then greatest(give_up_at, ${giveUpAt}::timestamptz) else give_up_at end
     where kind = 'webhook' and organisation_id = ${organisationId} and (
       outbox_id = any (${outboxIds}) and state <> 'dropped'
       or state = 'queued' and destination in (
         select destination from outbox where outbox_id = any (${outboxIds}) and organisation_id = ${organisationId}
       )
     )`,
  );
}

/** The number of waiting messages to webhooks and of changes that are in no message. */
export function countWaiting(database: Queryable, organisationId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select (select count(*) from outbox where organisation_id = ${organisationId} and kind = 'webhook' and state = 'queued')
       + (select count(*) from webhook_event where organisation_id = ${organisationId}) as waiting`,
  );
}
