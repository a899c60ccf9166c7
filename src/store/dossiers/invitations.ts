import { z } from 'zod';
import type { Invitation } from '../../client/invitations.js';
import { findValue, type Queryable } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';

/** The roster and the account of invitations. */
export interface InvitingScope {
  accountId: number;
  rosterId: number;
}

const candidateRow = z.object({
  discrepancyId: z.number(),
  customer: z.string(),
  customerVersion: z.number().nullable(),
  recipient: z.string().nullable(),
  channel: z.string().nullable(),
  locale: z.string().nullable(),
  isInvited: z.boolean(),
  /** Whether the rule allows an invitation now; the reason against it is only for reviewers. */
  isFree: z.boolean(),
  /** The number of former invitations that were sent. */
  former: z.number(),
});
/** A customer without a dossier, with its address for an invitation. */
export type InvitationCandidate = z.infer<typeof candidateRow>;

// Each page checks the rule again: 33,000 of 100,000 customers take 1 s in one page, 3 s in pages of 2,000.
const atOnce = 10_000;

/** The customers without a dossier, those without one for the longest time first. `columns` are attributes of the roster. */
export async function* readCandidates(
  database: Queryable,
  { accountId, rosterId }: InvitingScope,
  columns: { recipient: string; channel: string | null; locale: string | null },
  now: Date,
): AsyncGenerator<readonly InvitationCandidate[]> {
  for (let after = 0; ; ) {
    const rows = await database.query(
      candidateRow,
      sql`with page as (
         select * from discrepancy
         where account_id = ${accountId} and roster_id = ${rosterId} and kind = 'customer_without_dossier' and state = 'open'
           and discrepancy_id > ${after}
         order by discrepancy_id limit ${atOnce}
       )
       select page.discrepancy_id, page.facts ->> 'reference' as customer, customer.version as "customerVersion",
         version.record -> 'attributes' ->> ${columns.recipient}::text as recipient,
         version.record -> 'attributes' ->> ${columns.channel}::text as channel,
         version.record -> 'attributes' ->> ${columns.locale}::text as locale,
         exists (
           select from invitation where invitation.account_id = ${accountId} and invitation.customer_id = page.customer_id and is_open
         ) as "isInvited",
         judged.obstacle is null as "isFree",
         (select count(*) from invitation where invitation.discrepancy_id = page.discrepancy_id and state = 'invited')::integer as former
       from page
       join judge_invitations(${accountId}, array(select discrepancy_id from page), ${now}) judged using (discrepancy_id)
       left join customer on customer.customer_id = page.customer_id
       left join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
       order by page.discrepancy_id`,
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) return;
    after = last.discrepancyId;
  }
}

/** SQL: one more of the events that `invitation` keeps. */
const toEventSql = (kind: string, at: Date, { detail = sql`null`, runId = null as number | null } = {}): Sql => sql`
  jsonb_strip_nulls(jsonb_build_object(
    'kind', ${kind}::text, 'at', ${at}::timestamptz, 'detail', (${detail})::text, 'runId', ${runId}::bigint
  ))`;

/**
 * Stores the intention to invite a customer. Gives null and stores nothing if the rule forbids it, the customer is already invited, or its
 * record has changed since it was read.
 */
export function saveIntention(
  transaction: Queryable,
  accountId: number,
  intended: { discrepancyId: number; customerVersion: number | null; reference: string; channel: string },
  now: Date,
): Promise<number | null> {
  return findValue(
    transaction,
    z.number(),
    sql`insert into invitation
       (account_id, roster_id, customer_id, discrepancy_id, customer_version, reference, channel, state, is_open, intended_at, events)
     select ${accountId}, customer.roster_id, customer.customer_id, missing.discrepancy_id, customer.version, ${intended.reference},
       ${intended.channel}, 'intended', true, ${now}, jsonb_build_array(${toEventSql('intended', now)})
     from judge_invitations(${accountId}, array[${intended.discrepancyId}::bigint], ${now}) judged
     join discrepancy missing using (discrepancy_id)
     join customer on customer.customer_id = missing.customer_id and customer.version = ${intended.customerVersion}
     where judged.obstacle is null
     on conflict (account_id, customer_id) where is_open do nothing
     returning invitation_id`,
  );
}

/**
 * Marks an invitation right before it is sent (`sending`) or sent again (`reminding`); gives false and marks nothing if the rule now forbids
 * it. A marked invitation may have reached the service.
 */
export async function markLeaving(
  transaction: Queryable,
  invitationId: number,
  kind: 'sending' | 'reminding',
  now: Date,
): Promise<boolean> {
  const isFirst = kind === 'sending';
  const changeSql = isFirst ? sql`state = 'sending', sending_at = ${now}` : sql`reminded_at = ${now}`;
  const states = isFirst ? ['intended', 'sending'] : ['invited'];
  const marked = await transaction.execute(sql`
    update invitation set ${changeSql}, events = events || ${toEventSql(kind, now)}
    where invitation_id = ${invitationId} and is_open and state = any (${states}) and exists (
      select from judge_invitations(account_id, array[discrepancy_id], ${now}) judged where judged.obstacle is null
    )`);
  return marked === 1;
}

/** Stores a failed sending: `unknown` if it may have reached the service; otherwise it did not, and the customer can be invited again. */
export async function saveFailure(
  transaction: Queryable,
  invitationId: number,
  failure: { kind: 'unknown' | 'refused' | 'withdrawn'; detail: string | null },
  now: Date,
): Promise<void> {
  const { kind, detail } = failure;
  const isUnknown = kind === 'unknown';
  await transaction.execute(sql`
    update invitation set
      state = case when ${isUnknown} or state = 'invited' then state else ${kind} end,
      is_open = is_open and (${isUnknown} or state = 'invited'),
      events = events || ${toEventSql(kind, now, { detail: sql`${detail}` })}
    where invitation_id = ${invitationId}`);
}

const linkDays = 30;

/**
 * Stores an invitation as the service shows it. A query of a known one (`status`) adds an event only if its status has changed. For one that
 * the service does not have (null) only the time is stored, so that others come first the next time.
 */
export async function saveShown(
  transaction: Queryable,
  invitationId: number,
  shown: Invitation | null,
  { kind, runId = null, now }: { kind: 'sent' | 'found' | 'status' | 'reminded'; runId?: number | null; now: Date },
): Promise<void> {
  if (shown === null) {
    await transaction.execute(sql`update invitation set followed_at = ${now} where invitation_id = ${invitationId}`);
    return;
  }
  const eventSql = toEventSql(kind, now, { detail: sql`${shown.status}`, runId });
  await transaction.execute(sql`
    update invitation set
      state = 'invited', is_open = case when state = 'invited' then is_open else true end, followed_at = ${now}, status = ${shown.status},
      token = coalesce(${shown.token ?? null}, token), dossier_id = coalesce(${shown.dossierToken ?? null}, dossier_id),
      sent_at = ${shown.sentAt ?? null}, delivery_attempts = coalesce(${shown.deliveryAttempts ?? null}, delivery_attempts),
      expires_at = coalesce(
        ${shown.expiresAt ?? null}, expires_at, coalesce(${shown.createdAt ?? null}, intended_at) + make_interval(days => ${linkDays})
      ),
      events = case
        when ${kind !== 'status'} or status is distinct from ${shown.status} then events || ${eventSql}
        else events
      end
    where invitation_id = ${invitationId}`);
}

/**
 * Ends invalid invitations, so that their customers can be invited again: expired and rejected ones, and undelivered ones whose customer has a
 * changed record.
 */
export async function endInvitations(
  transaction: Queryable,
  accountId: number,
  { runId, now }: { runId: number | null; now: Date },
): Promise<void> {
  const detail = sql`case when expires_at <= ${now} then 'expired' else status end`;
  await transaction.execute(sql`
    update invitation set is_open = false, events = events || ${toEventSql('ended', now, { detail, runId })}
    from customer
    where customer.customer_id = invitation.customer_id and invitation.account_id = ${accountId} and invitation.is_open
      and invitation.state = 'invited'
      and (expires_at <= ${now} or status = 'rejected' or status = 'failed' and customer.version <> customer_version)`);
}

const openRow = z.object({
  invitationId: z.number(),
  roster: z.string(),
  customer: z.string(),
  channel: z.enum(['email', 'sms']),
  reference: z.string(),
  token: z.string().nullable(),
  state: z.enum(['sending', 'invited']),
  sendingAt: z.date().nullable(),
});
/** An invitation that has or may have reached the service. */
type OpenInvitation = z.infer<typeof openRow>;

const selectFrom = (source: 'invitation' | 'eligible'): Sql =>
  rawSql(`
  select invitation_id, roster.name as roster, customer.reference as customer, channel, ${source}.reference, token, state, sending_at
  from ${source} join customer using (customer_id) join roster on roster.roster_id = customer.roster_id`);

/**
 * Cleans up former invitations: ends invalid ones, withdraws the intentions of dead processes, which were never sent, and gives those that may
 * have reached the service.
 */
export async function endFormerInvitations(transaction: Queryable, accountId: number, now: Date) {
  await endInvitations(transaction, accountId, { runId: null, now });
  await transaction.execute(sql`
    update invitation set state = 'withdrawn', is_open = false, events = events || ${toEventSql('withdrawn', now)}
    where account_id = ${accountId} and state = 'intended'`);
  return transaction.query(
    openRow,
    sql`${selectFrom('invitation')} where account_id = ${accountId} and state = 'sending' order by invitation_id`,
  );
}

/** The invitations whose status may still change, the one queried longest ago first. */
export const listToFollow = (
  database: Queryable,
  accountId: number,
  limit: number,
): Promise<readonly OpenInvitation[]> =>
  database.query(
    openRow,
    sql`${selectFrom('invitation')} where account_id = ${accountId} and is_open
       and (state = 'sending' or state = 'invited' and status <> 'completed')
     order by followed_at nulls first, invitation_id limit ${limit}`,
  );

/** The service's limits: the most sendings of an invitation, and the time between two of them. */
const limits = { attempts: 10, cooldown: '3 minutes' } as const;

/** The invitations that may be sent again: `sent`, not expired, below the service's limits, last sent before `sentBefore`, and allowed by the rule. */
export const listToRemind = (
  database: Queryable,
  { accountId, rosterId }: InvitingScope,
  { sentBefore, now }: { sentBefore: Date; now: Date },
): Promise<readonly OpenInvitation[]> =>
  database.query(
    openRow,
    sql`with eligible as (
       select * from invitation
       where account_id = ${accountId} and roster_id = ${rosterId} and is_open and state = 'invited' and status = 'sent'
         and token is not null and expires_at > ${now} and coalesce(delivery_attempts, 1) < ${limits.attempts}
         and greatest(sent_at, sending_at, reminded_at) <= least(${sentBefore}::timestamptz, ${now}::timestamptz - ${limits.cooldown}::interval)
     )
     ${selectFrom('eligible')}
     join judge_invitations(${accountId}, array(select discrepancy_id from eligible), ${now}) judged using (discrepancy_id)
     where judged.obstacle is null
     order by invitation_id`,
  );

/** Stores the number of open discrepancies by the status of their newest invitation, and of excluded customers by reason. */
export async function saveInvitationSums(
  transaction: Queryable,
  { runId, rosterId, accountId, now }: InvitingScope & { runId: number; now: Date },
): Promise<void> {
  await transaction.execute(sql`
    with missing as (
      select discrepancy_id from discrepancy
      where account_id = ${accountId} and roster_id = ${rosterId} and kind = 'customer_without_dossier' and state = 'open'
    ), judged as materialized (
      select * from judge_invitations(${accountId}, array(select discrepancy_id from missing), ${now})
    ), newest as (
      select distinct on (discrepancy_id) discrepancy_id, is_open,
        case
          when state = 'sending' then 'unknown'
          when expires_at <= ${now} and status not in ('completed', 'rejected') then 'expired'
          when status = 'sent' and obstacle is null and coalesce(delivery_attempts, 1) < ${limits.attempts}
            and sent_at <= ${now}::timestamptz - ${limits.cooldown}::interval
            then 'sent_and_resend_eligible'
          else status
        end as status
      from invitation join judged using (discrepancy_id)
      where state in ('sending', 'invited') order by discrepancy_id, invitation_id desc
    ), excluded as (
      select obstacle from judged
      where obstacle is not null and not exists (select from newest where newest.discrepancy_id = judged.discrepancy_id and is_open)
    )
    update reconciliation set invitations = jsonb_build_object(
      'byStatus', coalesce((select jsonb_object_agg(status, count) from (select status, count(*) from newest group by status) by_status), '{}'),
      'excluded', coalesce((select jsonb_object_agg(obstacle, count) from (select obstacle, count(*) from excluded group by obstacle) by_reason), '{}')
    )
    where run_id = ${runId} and roster_id = ${rosterId}`);
}
