import { z } from 'zod';
import type { WaitingItem } from '../../reports/list-facts.js';
import { absences, dispositionVerdicts, itemStates, runModes, severities } from '../../vocabulary.js';
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

/** Whose items: those of a roster's customers on an account. */
export interface ProjectionScope {
  rosterId: number;
  accountId: number;
}

/** SQL: who answers for an item at a moment (a placeholder), and for whom when that is a stand-in; null for nobody. */
export const ownerSql = (item: string, moment: string): string => `(
  select jsonb_build_object(
    'name', coalesce(answers.stand_in, ${item}.assigned_to),
    'standsInFor', case when answers.stand_in is not null then ${item}.assigned_to end
  )
  from (
    select find_stand_in(account.organisation_id, ${item}.assigned_to, ${moment}::timestamptz) as stand_in
    from account where account.account_id = ${item}.account_id
  ) answers
  where ${item}.assigned_to is not null
)`;

/** SQL: why an item is open again, `undone` where somebody has undone the decision; none for one that was never decided. */
const reopenedBecauseSql = (item: string): string => `coalesce((
  select reported.reasons
  from (
    select happened_at, reasons from review_event
    where review_event.item_id = ${item}.item_id and kind in ('opened', 'reopened')
    union all
    select undone.decided_at, array['undone']
    from disposition undone join disposition said on said.disposition_id = undone.refers_to and said.kind <> 'proposed'
    where undone.item_id = ${item}.item_id and undone.kind = 'undone'
  ) reported
  order by reported.happened_at desc limit 1
), '{}')`;

/**
 * SQL: the last decision about a like match of the party that left the list when the item's match came, as `replacedShape` reads it; null
 * where there is none, and where the item has been decided about itself. Nothing that it goes by ever changes.
 */
const replacedSql = (item: string): string => `(
  select jsonb_build_object(
    'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at,
    'name', former.listed ->> 'name', 'matchId', former.listed ->> 'id'
  )
  from review_item former
  join disposition made on made.item_id = former.item_id and made.verdict is not null
  where former.party_id = ${item}.party_id and former.account_id = ${item}.account_id and former.item_id < ${item}.item_id
    and former.listed ->> 'schema' = ${item}.listed ->> 'schema'
    and (
      string_to_array(lower(former.listed ->> 'name'), ' ') && string_to_array(lower(${item}.listed ->> 'name'), ' ')
      or exists (
        select from jsonb_array_elements_text(former.listed -> 'birthDates') as born (day)
        where length(born.day) > 4 and ${item}.listed -> 'birthDates' @> to_jsonb(born.day)
      )
    )
    and not exists (select from disposition own where own.item_id = ${item}.item_id)
    and exists (
      select from review_event opened
      join change_event lost on lost.run_id = opened.run_id and lost.party_id = former.party_id
        and lost.match_id = former.listed ->> 'id' and lost.after is null
      where opened.item_id = ${item}.item_id and opened.kind = 'opened' and made.decided_at <= opened.happened_at
      -- Fenced off: asked of the few former items, by indexes.
      offset 0
    )
  order by lower(former.listed ->> 'name') = lower(${item}.listed ->> 'name') desc, made.disposition_id desc limit 1
)`;

/** An item that waits, as the database reports it or has kept it. */
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

/** What waits for reviewers, or for what \`assignee\` answers, also as the deputy of somebody; on whatever account it was found, the first to be looked at first. */
export function readWaitingItems(
  database: Queryable,
  {
    organisation,
    roster,
    assignee,
    now,
  }: { organisation: string; roster: string | null; assignee: string | null; now: Date },
) {
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

/** How many of the things that were said about an item a report shows. */
const saidAtMost = 3;

/**
 * Keeps with each change of these parties of which items have just been made how its item stands, for reports. First screenings have nothing
 * to report: their items were opened by them.
 */
export async function saveChangeItems(
  transaction: Queryable,
  { rosterId, accountId }: ProjectionScope,
  partyIds: readonly number[],
  now: Date,
): Promise<void> {
  if (partyIds.length === 0) return;
  await transaction.execute(
    `update change_event set item = stands.facts
     from (
       select event.change_id, found.facts
       from unnest($4::bigint[]) as chosen (party_id)
       -- Fenced off: without statistics all changes of a run would be walked through for each party.
       cross join lateral (select * from change_event where party_id = chosen.party_id offset 0) event
       join run on run.run_id = event.run_id and run.roster_id = $1 and run.account_id = $2
         and event.change_id > coalesce(run.projected_change_id, 0)
       cross join lateral (
         select jsonb_build_object(
           'state', item.state, 'openedAt', item.opened_at, 'dueAt', item.due_at, 'owner', ${ownerSql('item', '$3')},
           'reopenedBecause', ${reopenedBecauseSql('item')}, 'replaced', ${replacedSql('item')},
           'said', (
             select coalesce(jsonb_agg(jsonb_build_object(
               'kind', said.kind, 'verdict', said.verdict, 'reviewer', said.reviewer, 'isAttested', said.is_attested,
               'reason', said.reason, 'saidAt', said.decided_at
             ) order by said.disposition_id desc), '[]')
             from (
               select * from disposition where disposition.item_id = item.item_id order by disposition_id desc limit ${saidAtMost}
             ) said
           )
         ) as facts
         from review_item item
         where item.party_id = event.party_id and item.account_id = $2 and item.listed ->> 'id' = event.match_id
         order by (item.state = 'gone'), item.item_id desc limit 1
       ) found
       where not event.is_baseline
     ) stands
     where change_event.change_id = stands.change_id`,
    [rosterId, accountId, now, [...partyIds]],
  );
}
