import { z } from 'zod';
import type { WaitingItem } from '../../reports/list-facts.js';
import { absences, dispositionVerdicts, itemStates, runModes, type Severity, severities } from '../../vocabulary.js';
import { findValue, type Queryable, readValue, toInsert } from '../database/database.js';
import { keptDetailsSql } from '../match-details.js';
import {
  joinPartySql,
  ownerShape,
  partyFactsSchema,
  partyFactsSql,
  replacedShape,
  storedMatchSchema,
} from '../row-shapes.js';
import { ownerSql, reopenedBecauseSql, replacedSql } from './items.js';
import type { ProjectionScope } from './unprojected.js';

/** An item that waits, as the database tells it or has kept it. */
export const waitingRow = z.object({
  itemId: z.number(),
  mode: z.enum(runModes),
  party: partyFactsSchema,
  listed: storedMatchSchema,
  severity: z.enum(severities),
  rule: z.string(),
  priority: z.number(),
  openedAt: z.coerce.date(),
  dueAt: z.coerce.date().nullable(),
  state: z.enum(['open', 'proposed']),
  // Not kept before there were any.
  absence: z.enum(absences).nullable().default(null),
  absentSince: z.coerce.date().nullable().default(null),
  owner: ownerShape.nullable(),
  proposal: z
    .object({
      verdict: z.enum(dispositionVerdicts),
      reviewer: z.string(),
      reason: z.string(),
      decidedAt: z.coerce.date(),
    })
    .nullable(),
  reopenedBecause: z.array(z.string()),
  lastDecision: z
    .object({ verdict: z.string(), reviewer: z.string(), reason: z.string(), decidedAt: z.coerce.date() })
    .nullable(),
  replaced: replacedShape.nullable().default(null),
  legacy: z
    .object({
      verdict: z.string(),
      reviewer: z.string(),
      reason: z.string(),
      decidedAt: z.string(),
      isSample: z.boolean(),
    })
    .nullable(),
  /** The number of the last thing said about it. */
  lastSaidId: z.number().nullable(),
});

/** An item that waits, as it is stored. */
export type StoredWaitingItem = z.infer<typeof waitingRow> & Omit<WaitingItem, 'mark' | 'sheetId' | 'corroboration'>;

/** Which items that wait are meant. */
interface WaitingChoice {
  organisation: string;
  roster: string | null;
  /** Only what this person answers for, also while standing in for somebody. */
  assignee: string | null;
  now: Date;
}

/** SQL: the items (`event`) that wait, as `waitingRow` reads them, at a moment (a placeholder); conditions and order are still to come. */
export const waitingItemsSql = (moment: string): string => `
  select event.item_id as "itemId", case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party, event.listed, event.severity, event.rule, event.priority,
    event.opened_at as "openedAt", event.due_at as "dueAt", event.state,
    event.absence, event.absent_since as "absentSince", ${replacedSql('event')} as replaced,
    ${ownerSql('event', moment)} as owner, ${reopenedBecauseSql('event')} as "reopenedBecause",
    case when event.state = 'proposed' then (
      select jsonb_build_object(
        'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at
      )
      from disposition made where made.disposition_id = event.disposition_id
    ) end as proposal,
    (
      select jsonb_build_object(
        'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at
      )
      from disposition made where made.item_id = event.item_id and made.verdict is not null
        and not (event.state = 'proposed' and made.disposition_id = event.disposition_id)
      order by made.disposition_id desc limit 1
    ) as "lastDecision",
    (
      select jsonb_build_object(
        'verdict', reported.verdict, 'reviewer', reported.decided_by, 'reason', reported.reason, 'decidedAt', reported.decided_at,
        'isSample', reported.is_sample and not exists (select from disposition made where made.item_id = event.item_id)
      )
      from legacy_decision reported where reported.item_id = event.item_id
    ) as legacy,
    (select max(said.disposition_id) from disposition said where said.item_id = event.item_id) as "lastSaidId"
  from review_item event
  ${joinPartySql('event')}
  join roster on roster.roster_id = customer.roster_id
  join account on account.account_id = event.account_id
  where event.state in ('open', 'proposed')`;

/** SQL: what is to be looked at first comes first. */
export const waitingOrderSql = 'order by event.priority desc, event.due_at, event.item_id';

/** What waits for reviewers, on whatever account it was found, the first to be looked at first. */
export function readWaitingItems(database: Queryable, { organisation, roster, assignee, now }: WaitingChoice) {
  return database.query(
    waitingRow,
    `${waitingItemsSql('$3')}
       and roster.organisation_id = (select organisation_id from organisation where name = $1)
       and ($2::text is null or roster.name = $2)
       and ($4::text is null or coalesce(find_stand_in(roster.organisation_id, event.assigned_to, $3), event.assigned_to) = $4)
     ${waitingOrderSql}`,
    [organisation, roster, now, assignee],
  );
}

/** Notes that a working list was written; gives its number. */
export function insertReviewSheet(database: Queryable, sheet: { exportedAt: Date; exportedBy: string }) {
  return readValue(database, z.number(), ...toInsert('review_sheet', sheet, 'returning sheet_id'));
}

/** Which waiting items are meant: these, or all for which each of the other things holds that is said. */
interface ItemChoice {
  organisation: string;
  itemIds: readonly number[] | null;
  customer: string | null;
  severity: Severity | null;
  roster: string | null;
}

const heldRow = z.object({ itemId: z.number(), assignedTo: z.string().nullable() });

/** The items that are meant and wait, each held until the transaction ends. */
export async function holdWaitingItems(
  transaction: Queryable,
  { organisation, itemIds, customer, severity, roster }: ItemChoice,
): Promise<readonly z.infer<typeof heldRow>[]> {
  return transaction.query(
    heldRow,
    `select item.item_id, item.assigned_to
     from review_item item
     where item.state in ('open', 'proposed') and ($2::bigint[] is null or item.item_id = any ($2)) and ($4::text is null or item.severity = $4)
       and exists (
         select from party
         join customer on customer.customer_id = party.customer_id and ($3::text is null or customer.reference = $3)
         join roster on roster.roster_id = customer.roster_id and ($5::text is null or roster.name = $5)
         join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = $1
         where party.party_id = item.party_id
       )
     order by item.item_id for update`,
    [organisation, itemIds && [...itemIds], customer, severity, roster],
  );
}

/** Assigns items to somebody, or to nobody, with an entry in the history of each. */
export async function saveAssignments(
  transaction: Queryable,
  itemIds: readonly number[],
  { to, actor, now }: { to: string | null; actor: { name: string; isAttested: boolean }; now: Date },
): Promise<void> {
  if (itemIds.length === 0) return;
  await transaction.execute('update review_item set assigned_to = $2 where item_id = any ($1::bigint[])', [
    [...itemIds],
    to,
  ]);
  await transaction.execute(
    `insert into review_event (item_id, kind, happened_at, severity, actor, is_attested, assigned_to)
     select item_id, 'assigned', $2, severity, $3, $4, $5 from review_item where item_id = any ($1::bigint[]) order by item_id`,
    [[...itemIds], now, actor.name, actor.isAttested, to],
  );
}

/**
 * Whether somebody of this name may decide, as far as the database can tell: where a role nightscreen_reviewer exists its members that can
 * log in. Null where nothing says who may.
 */
export function isKnownReviewer(database: Queryable, name: string): Promise<boolean | null> {
  return findValue(
    database,
    z.boolean().nullable(),
    `select case when exists (select from pg_roles where rolname = 'nightscreen_reviewer') then exists (
       select from pg_roles login
       where login.rolname = $1 and login.rolcanlogin and pg_has_role(login.oid, 'nightscreen_reviewer', 'member')
     ) end as "isKnown"`,
    [name],
  );
}

const delegationRow = z.object({
  from: z.string(),
  to: z.string(),
  /** The last day, `yyyy-mm-dd`. */
  until: z.string(),
  reason: z.string(),
  actor: z.string(),
  isAttested: z.boolean(),
});
/** A delegation that holds. */
export type Delegation = z.infer<typeof delegationRow>;

/** That somebody stands in for somebody else; with nobody to stand in it ends what was said before. */
interface NewDelegation extends Pick<Delegation, 'from' | 'reason'> {
  organisationId: number;
  to: string | null;
  /** The last day, `yyyy-mm-dd`, and when it is over. */
  until: string | null;
  endsAt: Date | null;
  actor: { name: string; isAttested: boolean };
}

/** Adds a delegation, or the end of one, to the history. */
export async function insertDelegation(transaction: Queryable, delegation: NewDelegation, now: Date): Promise<void> {
  const { organisationId, from, to, until, endsAt, reason, actor } = delegation;
  const said = { fromName: from, toName: to, until, endsAt, reason, happenedAt: now };
  const row = { organisationId, ...said, actor: actor.name, isAttested: actor.isAttested };
  await transaction.execute(...toInsert('review_delegation', row));
}

/** Who stands in for whom at a moment, by name. */
export function readDelegations(database: Queryable, organisationId: number, moment: Date) {
  return database.query(
    delegationRow,
    `select from_name as "from", to_name as "to", until::text as until, reason, actor, is_attested
     from (
       select distinct on (from_name) * from review_delegation where organisation_id = $1 order by from_name, delegation_id desc
     ) last_said
     where ends_at > $2
     order by from_name`,
    [organisationId, moment],
  );
}

const historyRow = z.object({
  itemId: z.number(),
  roster: z.string(),
  mode: z.enum(runModes),
  party: partyFactsSchema,
  listed: storedMatchSchema,
  state: z.enum(itemStates),
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
  owner: ownerShape.nullable(),
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

/** An item of a customer with all that has become of it, oldest first. */
export type ItemHistory = z.infer<typeof historyRow>;

/** Every item of the customers of this reference, in all rosters, with its history. */
export function readItemHistories(database: Queryable, organisation: string, reference: string, now: Date) {
  return database.query(
    historyRow,
    `select item.item_id, roster.name as roster, case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party,
       item.listed, item.state, item.absence, item.severity, item.opened_at, item.due_at,
       ${ownerSql('item', '$3')} as owner,
       (
         select coalesce(jsonb_agg(jsonb_build_object(
           'at', reported.at, 'what', reported.what, 'who', reported.who, 'isAttested', reported.is_attested, 'reason', reported.reason, 'comment', reported.comment
         ) order by reported.at, reported.place), '[]')
         from (
           select happened_at as at, event_id as place, case when kind <> 'assigned' then kind || ' ' || severity
               else coalesce('assigned to ' || assigned_to, 'assigned to nobody') end as what,
             actor as who, is_attested, array_to_string(reasons, ', ') as reason, null as comment
           from review_event where review_event.item_id = item.item_id
           union all
           select decided_at, disposition_id, kind || coalesce(' ' || verdict, ''), reviewer, is_attested, reason, comment
           from disposition where disposition.item_id = item.item_id
           union all
           select imported_at, 0, case when is_sample then 'sampled ' else 'legacy ' end || verdict, decided_by, true, reason,
             'decided ' || decided_at || ' in an older system, brought by ' || reviewer || coalesce('; ' || comment, '')
           from legacy_decision where legacy_decision.item_id = item.item_id
         ) reported
       ) as history,
       ${keptDetailsSql('item')} as details
     from review_item item
     ${joinPartySql('item')}
     join roster on roster.roster_id = customer.roster_id
     join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = $1
     join account on account.account_id = item.account_id
     where customer.reference = $2
     order by roster.name, item.item_id`,
    [organisation, reference, now],
  );
}

/** SQL: a held run has opened or changed the alert (`item`); with `where` only such a run. */
const isOfHeldRunSql = (where = 'true'): string => `exists (
  select from review_event event
  join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers'
  where event.item_id = item.item_id and ${where}
)`;

/**
 * SQL: an absent alert (`item`, of `party` and `customer`) may be closed without looking at it alone: nobody has proposed anything about it,
 * it is no true match, the customer's record is as it was, the last answer is whole, and it is of no run that is still held.
 */
const isPlainlyAbsentSql = `(
  item.state = 'open' and item.absence in ('not_returned', 'below_threshold', 'settings_changed') and not item.is_confirmed
  and item.customer_version = customer.version and customer.left_at is null and party.is_current
  and not ${isOfHeldRunSql('hold.accepted_at is null')}
  and exists (
    select from party_state state
    join response on response.response_id = state.response_id
    left join list_cap on list_cap.account_id = state.account_id and list_cap.gone_at is null
    where state.party_id = item.party_id and state.account_id = item.account_id and state.customer_version = item.customer_version
      and state.unreturned is null and not response.truncated and response.total is distinct from list_cap.length
  )
)`;

/** Days and whole answers for which a match is absent before a policy closes its alert. */
const policyDays = 7;
const policyAnswers = 3;

/**
 * The undecided alerts of a roster on an account that the accepted policy `review.autoClose` closes when a run closes at `now`: never
 * proposed or commented, for nothing more serious than political exposure, absent by the service alone, from three whole answers of closed
 * runs over at least seven days (an answer that was used again is none), never of a run that was held, and no settings accepted meanwhile.
 */
export async function findAutoClosable(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  now: Date,
): Promise<readonly { itemId: number; absentSince: Date }[]> {
  return transaction.query(
    z.object({ itemId: z.number(), absentSince: z.date() }),
    `select item.item_id, item.absent_since
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
     join roster on roster.roster_id = customer.roster_id
     where item.account_id = $3 and item.absence in ('not_returned', 'below_threshold') and item.topic in ('pep', 'associate', 'other')
       and item.absent_since <= $4::timestamptz - interval '${policyDays} days' and ${isPlainlyAbsentSql}
       and not ${isOfHeldRunSql()}
       and not exists (select from disposition said where said.item_id = item.item_id)
       and not exists (select from legacy_decision said where said.item_id = item.item_id)
       and not exists (
         select from settings_record accepted
         where accepted.organisation_id = roster.organisation_id and accepted.accepted_at > item.absent_since
       )
       and ${policyAnswers} <= (
         select count(*)
         from screening
         join run on run.run_id = screening.run_id and run.account_id = item.account_id
         join response on response.response_id = screening.response_id and not response.truncated
         join commit_batch batch on batch.batch_id = screening.batch_id
         where screening.party_id = item.party_id and screening.outcome = 'screened'
           and (run.run_id = $1 or run.state in ('complete', 'incomplete'))
           -- By when the answer came: accepting a run moves its end. The absence is dated by the end of the run that found it.
           and (batch.committed_at >= item.absent_since or exists (
             select from review_event found
             where found.item_id = item.item_id and found.run_id = run.run_id and found.happened_at = item.absent_since
           ))
           -- A cap that has gone since may have cut what came before.
           and not exists (
             select from list_cap cap
             where cap.account_id = item.account_id and cap.length = response.total
               and (cap.gone_at is null or cap.gone_at > batch.committed_at)
           )
       )
     order by item.item_id`,
    [runId, rosterId, accountId, now],
  );
}

/** Of these alerts those that may be confirmed as no longer matched in bulk, each with its account. */
export async function findPlainlyAbsent(
  database: Queryable,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (itemIds.length === 0) return new Map();
  const rows = await database.query(
    z.object({ itemId: z.number(), accountId: z.number() }),
    `select item.item_id, item.account_id
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id
     where item.item_id = any ($1::bigint[]) and ${isPlainlyAbsentSql}`,
    [[...itemIds]],
  );
  return new Map(rows.map(({ itemId, accountId }) => [itemId, accountId]));
}

/** Stores which alerts a bulk row of a working list names; gives its number. */
export function saveBulk(database: Queryable, sheetId: number, itemIds: readonly number[]): Promise<number> {
  return readValue(
    database,
    z.number(),
    'insert into review_bulk (sheet_id, item_ids) values ($1, $2::bigint[]) returning bulk_id',
    [sheetId, [...itemIds]],
  );
}

/** The alerts that a bulk row names; none for an unknown one. */
export async function readBulk(database: Queryable, bulkId: number): Promise<readonly number[]> {
  const sql = 'select item_ids from review_bulk where bulk_id = $1';
  return (await findValue(database, z.array(z.number()), sql, [bulkId])) ?? [];
}
