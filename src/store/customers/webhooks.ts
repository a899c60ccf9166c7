import { z } from 'zod';
import { runModes, worstTopics } from '../../vocabulary.js';
import { type Database, type Queryable, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';
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

const statusRow = z.object({
  roster: z.string(),
  reference: z.string(),
  state: z.string(),
  inScope: z.boolean(),
  worstTopic: z.enum(worstTopics).nullable(),
  waiting: z.number(),
  held: z.boolean(),
  reason: z
    .enum([
      'never',
      'changed',
      'expired',
      'unproven',
      'related_party_unreadable',
      'doubtful_name',
      'row_rejected',
      'conflicting_duplicate',
      'roster_held',
    ])
    .nullable(),
  because: z.string().nullable(),
  lastState: z.string().nullable(),
  asOf: z.date().nullable(),
  neverScreened: z.boolean(),
  dueAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  riskTier: z.enum(['high', 'medium', 'low']),
  mode: z.enum(runModes).nullable(),
  runId: z.string().nullable(),
  changedAt: z.date().nullable(),
});
/** The status of a customer, as in the view `customer_screening_status`. */
export type CustomerStatus = z.infer<typeof statusRow>;

const rowsAtOnce = 2_000;

/** The current statuses of the customers in scope of these rosters, all as of one moment, by roster and reference. */
export function readCustomerStatuses(database: Database, organisation: string, rosters: readonly string[]) {
  return database.cursor(
    statusRow,
    sql`select roster, reference, in_scope, state, worst_topic, waiting, held, reason, because, last_state, as_of, never_screened, due_at,
       expires_at, risk_tier, mode, run_id, changed_at
     from customer_screening_status
     where organisation = ${organisation} and roster = any (${rosters})
     order by roster collate "C", reference collate "C"`,
    rowsAtOnce,
  );
}

/** SQL: views assess the customers of this transaction at `$1` instead of the database's own time. */
const assessAtSql = `select set_config('nightscreen.status_at', $1, true)`;

/**
 * Looks at the state of every customer of a roster at `now`, for the sums of a run that closes and for `recordStateChanges`, all in one
 * transaction. Whatever changes a state must be done before.
 */
export async function walkStates(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  now: Date,
): Promise<void> {
  // Answers of a run that has ended are not provisional. How it has ended is stored when it is closed.
  await transaction.execute(`update run set state = 'incomplete' where run_id = $1`, [runId]);
  await transaction.execute(assessAtSql, [now.toISOString()]);
  await transaction.execute('select count(*) from find_unrecorded_states($1, true)', [rosterId]);
}

/**
 * Records every customer of a roster whose state at `now` differs from the recorded one, and queues the change for the organisation's webhooks.
 * A run that is `planned` looks only at whom it may concern, and at nobody without a recorded state.
 */
export async function recordStateChanges(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  when: 'planned' | 'closed',
  now: Date,
): Promise<void> {
  await transaction.execute(assessAtSql, [now.toISOString()]);
  if (when === 'closed') await transaction.execute('select record_state_changes($1, null, true)', [rosterId]);
  else {
    const sql = 'select record_state_changes($1, find_touched_customers($2, $3), false)';
    await transaction.execute(sql, [rosterId, runId, now]);
  }
}

/** Notes the coverage of a run's roster as the run leaves it; right after `recordStateChanges` in the same transaction. */
export async function noteCoverage(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('select note_coverage($1)', [runId]);
}

/** The number of the newest change of state; 0 before the first. */
export function readLastStateChange(transaction: Queryable): Promise<number> {
  return readValue(transaction, z.number(), 'select coalesce(max(change_id), 0) as last from customer_state_change');
}
