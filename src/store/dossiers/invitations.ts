import { z } from 'zod';
import type { Invitation } from '../../client/invitations.js';
import { findValue, type Queryable } from '../database/database.js';

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
      `with page as (
         select * from discrepancy
         where account_id = $1 and roster_id = $2 and kind = 'customer_without_dossier' and state = 'open' and discrepancy_id > $3
         order by discrepancy_id limit $4
       )
       select page.discrepancy_id, page.facts ->> 'reference' as customer, customer.version as "customerVersion",
         version.record -> 'attributes' ->> $5::text as recipient, version.record -> 'attributes' ->> $6::text as channel,
         version.record -> 'attributes' ->> $7::text as locale,
         exists (
           select from invitation where invitation.account_id = $1 and invitation.customer_id = page.customer_id and is_open
         ) as "isInvited",
         judged.obstacle is null as "isFree",
         (select count(*) from invitation where invitation.discrepancy_id = page.discrepancy_id and state = 'invited')::integer as former
       from page
       join judge_invitations($1, array(select discrepancy_id from page), $8) judged using (discrepancy_id)
       left join customer on customer.customer_id = page.customer_id
       left join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
       order by page.discrepancy_id`,
      [accountId, rosterId, after, atOnce, columns.recipient, columns.channel, columns.locale, now],
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) return;
    after = last.discrepancyId;
  }
}

/** SQL: one more of the events that `invitation` keeps. */
const toEventSql = (kind: string, at: string, { detail = 'null', runId = 'null' } = {}): string =>
  `jsonb_strip_nulls(jsonb_build_object(
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
    `insert into invitation
       (account_id, roster_id, customer_id, discrepancy_id, customer_version, reference, channel, state, is_open, intended_at, events)
     select $1, customer.roster_id, customer.customer_id, missing.discrepancy_id, customer.version, $4, $5, 'intended', true, $6,
       jsonb_build_array(${toEventSql("'intended'", '$6')})
     from judge_invitations($1, array[$2::bigint], $6) judged
     join discrepancy missing using (discrepancy_id)
     join customer on customer.customer_id = missing.customer_id and customer.version = $3
     where judged.obstacle is null
     on conflict (account_id, customer_id) where is_open do nothing
     returning invitation_id`,
    [accountId, intended.discrepancyId, intended.customerVersion, intended.reference, intended.channel, now],
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
  const change = kind === 'sending' ? `state = 'sending', sending_at = $2` : 'reminded_at = $2';
  const states = kind === 'sending' ? `('intended', 'sending')` : `('invited')`;
  const marked = await transaction.execute(
    `update invitation set ${change}, events = events || ${toEventSql('$3', '$2')}
     where invitation_id = $1 and is_open and state in ${states} and exists (
       select from judge_invitations(account_id, array[discrepancy_id], $2) judged where judged.obstacle is null
     )`,
    [invitationId, now, kind],
  );
  return marked === 1;
}

/** Stores a failed sending: `unknown` if it may have reached the service; otherwise it did not, and the customer can be invited again. */
export async function saveFailure(
  transaction: Queryable,
  invitationId: number,
  failure: { kind: 'unknown' | 'refused' | 'withdrawn'; detail: string | null },
  now: Date,
): Promise<void> {
  await transaction.execute(
    `update invitation set
       state = case when $2 = 'unknown' or state = 'invited' then state else $2 end,
       is_open = is_open and ($2 = 'unknown' or state = 'invited'),
       events = events || ${toEventSql('$2', '$4', { detail: '$3' })}
     where invitation_id = $1`,
    [invitationId, failure.kind, failure.detail, now],
  );
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
    await transaction.execute('update invitation set followed_at = $2 where invitation_id = $1', [invitationId, now]);
    return;
  }
  await transaction.execute(
    `update invitation set
       state = 'invited', is_open = case when state = 'invited' then is_open else true end, followed_at = $9, status = $2,
       token = coalesce($3, token), dossier_id = coalesce($4, dossier_id), sent_at = $5,
       delivery_attempts = coalesce($6, delivery_attempts),
       expires_at = coalesce($7, expires_at, coalesce($8, intended_at) + interval '${linkDays} days'),
       events = case
         when $11 <> 'status' or status is distinct from $2 then events || ${toEventSql('$11', '$9', { detail: '$2', runId: '$10' })}
         else events
       end
     where invitation_id = $1`,
    [
      invitationId,
      shown.status,
      shown.token ?? null,
      shown.dossierToken ?? null,
      shown.sentAt ?? null,
      shown.deliveryAttempts ?? null,
      shown.expiresAt ?? null,
      shown.createdAt ?? null,
      now,
      runId,
      kind,
    ],
  );
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
  await transaction.execute(
    `update invitation set
       is_open = false,
       events = events || ${toEventSql("'ended'", '$2', { detail: "case when expires_at <= $2 then 'expired' else status end", runId: '$3' })}
     from customer
     where customer.customer_id = invitation.customer_id and invitation.account_id = $1 and invitation.is_open and invitation.state = 'invited'
       and (expires_at <= $2 or status = 'rejected' or status = 'failed' and customer.version <> customer_version)`,
    [accountId, now, runId],
  );
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

const selectFrom = (
  source: 'invitation' | 'eligible',
): string => `select invitation_id, roster.name as roster, customer.reference as customer, channel, ${source}.reference, token, state,
    sending_at
  from ${source} join customer using (customer_id) join roster on roster.roster_id = customer.roster_id`;

/**
 * Cleans up former invitations: ends invalid ones, withdraws the intentions of dead processes, which were never sent, and gives those that may
 * have reached the service.
 */
export async function endFormerInvitations(
  transaction: Queryable,
  accountId: number,
  now: Date,
): Promise<readonly OpenInvitation[]> {
  await endInvitations(transaction, accountId, { runId: null, now });
  await transaction.execute(
    `update invitation set state = 'withdrawn', is_open = false, events = events || ${toEventSql("'withdrawn'", '$2')}
     where account_id = $1 and state = 'intended'`,
    [accountId, now],
  );
  return transaction.query(
    openRow,
    `${selectFrom('invitation')} where account_id = $1 and state = 'sending' order by invitation_id`,
    [accountId],
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
    `${selectFrom('invitation')} where account_id = $1 and is_open and (state = 'sending' or state = 'invited' and status <> 'completed')
     order by followed_at nulls first, invitation_id limit $2`,
    [accountId, limit],
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
    `with eligible as (
       select * from invitation
       where account_id = $1 and roster_id = $2 and is_open and state = 'invited' and status = 'sent' and token is not null
         and expires_at > $4 and coalesce(delivery_attempts, 1) < ${limits.attempts}
         and greatest(sent_at, sending_at, reminded_at) <= least($3::timestamptz, $4::timestamptz - interval '${limits.cooldown}')
     )
     ${selectFrom('eligible')}
     join judge_invitations($1, array(select discrepancy_id from eligible), $4) judged using (discrepancy_id)
     where judged.obstacle is null
     order by invitation_id`,
    [accountId, rosterId, sentBefore, now],
  );

/** Stores the number of open discrepancies by the status of their newest invitation, and of excluded customers by reason. */
export async function saveInvitationSums(
  transaction: Queryable,
  { runId, rosterId, accountId, now }: InvitingScope & { runId: number; now: Date },
): Promise<void> {
  await transaction.execute(
    `with missing as (
       select discrepancy_id from discrepancy
       where account_id = $3 and roster_id = $2 and kind = 'customer_without_dossier' and state = 'open'
     ), judged as materialized (
       select * from judge_invitations($3, array(select discrepancy_id from missing), $4)
     ), newest as (
       select distinct on (discrepancy_id) discrepancy_id, is_open,
         case
           when state = 'sending' then 'unknown'
           when expires_at <= $4 and status not in ('completed', 'rejected') then 'expired'
           when status = 'sent' and obstacle is null and coalesce(delivery_attempts, 1) < ${limits.attempts} and sent_at <= $4::timestamptz - interval '${limits.cooldown}'
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
     where run_id = $1 and roster_id = $2`,
    [runId, rosterId, accountId, now],
  );
}
