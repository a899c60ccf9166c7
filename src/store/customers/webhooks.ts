import { z } from 'zod';
import { runModes } from '../../vocabulary.js';
import { type Queryable, readValue } from '../database/database.js';
import { isOfSql } from '../organisations.js';

interface WebhookTarget {
  url: string;
  states?: readonly string[] | undefined;
  rosters?: readonly string[] | undefined;
}

/**
 * The webhooks of an organisation from now on. In a transaction of its own, before the walk of `recordStateChanges`: whoever decides waits for
 * the row of the organisation.
 */
export async function saveWebhooks(transaction: Queryable, organisationId: number, webhooks: readonly WebhookTarget[]) {
  const rows = webhooks.map(({ url, states = null, rosters = null }) => ({ url, states, rosters }));
  // An unchanged list is not locked: runs of other rosters would wait for this commit.
  await transaction.execute(
    'update organisation set webhooks = $2::text::jsonb where organisation_id = $1 and webhooks <> $2::text::jsonb',
    [organisationId, JSON.stringify(rows)],
  );
  await transaction.execute('delete from webhook_event where organisation_id = $1 and url <> all ($2::text[])', [
    organisationId,
    rows.map(({ url }) => url),
  ]);
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
const isHeldSql = `exists (
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
    `with taken as (
       delete from webhook_event where organisation_id = $1 and (url, change_id) in (
         select url, change_id from webhook_event waiting
         where organisation_id = $1 and url = (
           select url from webhook_event waiting where organisation_id = $1 and not ${isHeldSql} order by url, change_id limit 1
         ) and not ${isHeldSql}
         order by change_id limit $2 for update skip locked
       )
       returning url, change_id
     )
     select taken.url, jsonb_build_object(
         'sequence', change.change_id, 'roster', roster.name, 'reference', customer.reference,
         'from', change.from_state, 'to', change.to_state, 'reason', change.reason,
         'asOf', change.as_of, 'dueAt', change.due_at, 'expiresAt', change.expires_at,
         'runId', to_char(run.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || run.kind || '-' || run.run_id,
         'mode', case when change.is_test then 'test' else 'live' end, 'changedAt', change.changed_at
       ) as change
     from taken
     join customer_state_change change using (change_id)
     join customer using (customer_id)
     join roster using (roster_id)
     left join run on run.run_id = change.run_id
     order by change.change_id`,
    [organisationId, limit],
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
    `update outbox set next_attempt_at = $3
     where ${isOfSql('outbox')} and kind = 'webhook' and destination = $2 and state = 'queued' and next_attempt_at < $3 and claimed_by is null`,
    [organisation, url, until],
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
    `update outbox set state = 'queued', next_attempt_at = least(queued_at, $2::timestamptz),
       give_up_at = case when outbox_id = any ($1::bigint[]) then greatest(give_up_at, $3::timestamptz) else give_up_at end
     where kind = 'webhook' and organisation_id = $4 and (
       outbox_id = any ($1::bigint[]) and state <> 'dropped'
       or state = 'queued' and destination in (
         select destination from outbox where outbox_id = any ($1::bigint[]) and organisation_id = $4
       )
     )`,
    [[...outboxIds], now, giveUpAt, organisationId],
  );
}

/** The number of waiting messages to webhooks and of changes that are in no message. */
export function countWaiting(database: Queryable, organisationId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select (select count(*) from outbox where organisation_id = $1 and kind = 'webhook' and state = 'queued')
       + (select count(*) from webhook_event where organisation_id = $1) as waiting`,
    [organisationId],
  );
}
