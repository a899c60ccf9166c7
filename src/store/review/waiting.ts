import { z } from 'zod';
import type { WaitingItem } from '../../reports/list-facts.js';
import { absences, dispositionVerdicts, runModes, severities } from '../../vocabulary.js';
import { findValue, type Queryable, readValue, toInsert } from '../database/database.js';
import {
  joinPartySql,
  ownerShape,
  ownerSql,
  partyFactsSchema,
  partyFactsSql,
  replacedShape,
  storedMatchSchema,
} from '../row-shapes.js';

/** The items of a roster's customers on an account. */
export interface ProjectionScope {
  rosterId: number;
  accountId: number;
}

/** SQL: why an item is open again, `undone` after an undo; empty for an item that was never decided. */
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
 * SQL: the last decision about a similar match of the party that disappeared when the item's match came, as `replacedShape` reads it; null
 * without one, and for an item with a decision of its own. The facts that it depends on never change.
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
      -- \`offset 0\`: runs for the few former items only, by indexes.
      offset 0
    )
  order by lower(former.listed ->> 'name') = lower(${item}.listed ->> 'name') desc, made.disposition_id desc limit 1
)`;

/** A waiting item, as read from the tables or as stored in a report's sheet. */
const waitingRow = z.object({
  itemId: z.number(),
  mode: z.enum(runModes),
  party: partyFactsSchema,
  listed: storedMatchSchema,
  severity: z.enum(severities),
  rule: z.string(),
  priority: z.number(),
  openedAt: z.coerce.date(),
  dueAt: z.coerce.date().nullable(),
  state: z.enum(['open', 'pending_approval']),
  // Earlier versions did not store these.
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
  /** The number of its last disposition. */
  lastSaidId: z.number().nullable(),
});

/** The number of these items by account, where they belong to several; the account with most first. */
export async function countByAccount(database: Queryable, itemIds: readonly number[]) {
  const counted = await database.query(
    z.object({ account: z.string(), alerts: z.number() }),
    `select 'account ...' || right(public_key, 4) || ' at ' || base_url as account, count(*)::integer as alerts
     from review_item join account using (account_id) where item_id = any ($1::bigint[])
     group by account_id, public_key, base_url order by 2 desc, account_id`,
    [[...itemIds]],
  );
  return counted.length > 1 ? counted : [];
}

/** A stored waiting item. */
export type StoredWaitingItem = z.infer<typeof waitingRow> & Omit<WaitingItem, 'mark' | 'sheetId' | 'corroboration'>;

/** SQL: the waiting items (`event`), as `waitingRow` reads them, at a moment (a placeholder); the caller adds conditions and order. */
const waitingItemsSql = (moment: string): string => `
  select event.item_id as "itemId", case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party, event.listed, event.severity, event.rule, event.priority,
    event.opened_at as "openedAt", event.due_at as "dueAt", event.state,
    event.absence, event.absent_since as "absentSince", ${replacedSql('event')} as replaced,
    ${ownerSql('event', moment)} as owner, ${reopenedBecauseSql('event')} as "reopenedBecause",
    case when event.state = 'pending_approval' then (
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
        and not (event.state = 'pending_approval' and made.disposition_id = event.disposition_id)
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
  where event.state in ('open', 'pending_approval')`;

/** SQL: the most urgent items first. */
const waitingOrderSql = 'order by event.priority desc, event.due_at, event.item_id';

/**
 * Stores that a working list is written, and gives its number with what waits for reviewers, or for `assignee` (also as a stand-in), on all
 * accounts; the most urgent first.
 */
export async function openReviewSheet(
  database: Queryable,
  list: { organisation: string; roster: string | null; assignee: string | null; exportedBy: string; now: Date },
) {
  const { organisation, roster, assignee, exportedBy, now } = list;
  const sheet = toInsert('review_sheet', { exportedAt: now, exportedBy }, 'returning sheet_id');
  const sheetId = await readValue(database, z.number(), ...sheet);
  const waiting = await database.query(
    waitingRow,
    `${waitingItemsSql('$3')}
       and roster.organisation_id = (select organisation_id from organisation where name = $1)
       and ($2::text is null or roster.name = $2)
       and ($4::text is null or coalesce(find_stand_in(roster.organisation_id, event.assigned_to, $3), event.assigned_to) = $4)
     ${waitingOrderSql}`,
    [organisation, roster, now, assignee],
  );
  return { sheetId, waiting };
}

/**
 * Stores the most urgent `maxItems` of what waits for reviewers of a roster's customers on an account at `now`, as the report sheet of the run
 * that closes. An item that an earlier report showed unchanged is not stored again.
 */
export async function saveReportSheet(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  { now, maxItems }: { now: Date; maxItems: number },
): Promise<void> {
  await transaction.execute(
    `with waiting as materialized (
       select item.item_id, item.revision, item.account_id, item.assigned_to, item.priority, item.due_at
       from review_item item
       join party on party.party_id = item.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
       where item.account_id = $3 and item.state in ('open', 'pending_approval')
     ),
     urgent as (
       select item_id, revision, ${ownerSql('event', '$4')} as owner, row_number() over (${waitingOrderSql}) as place
       from (select * from waiting event ${waitingOrderSql} limit $5) event
     ),
     -- Numbered here, because the planner has no statistics to join large lists again.
     listed as materialized (
       select urgent.*, known.shown_id is null as is_new,
         coalesce(known.shown_id, nextval(pg_get_serial_sequence('shown_item', 'shown_id'))) as shown_id
       from urgent
       left join lateral (
         select latest.shown_id
         from (
           select shown_id, revision, owner from shown_item where shown_item.item_id = urgent.item_id order by shown_id desc limit 1
         ) latest
         -- All other facts shown change the item's revision, or never change.
         where latest.revision = urgent.revision and latest.owner is not distinct from urgent.owner
       ) known on true
     ),
     added as (
       insert into shown_item (shown_id, item_id, revision, owner, facts) overriding system value
       select listed.shown_id, listed.item_id, listed.revision, listed.owner, to_jsonb(item)
       from listed
       -- \`offset 0\`: one item after another, by indexes.
       cross join lateral (${waitingItemsSql('$4')} and event.item_id = listed.item_id offset 0) item
       where listed.is_new
     )
     insert into review_sheet (exported_at, exported_by, run_id, shown_ids, waiting)
     select $4, 'report', $1, array(select shown_id from listed order by place), (select count(*) from waiting)`,
    [runId, rosterId, accountId, now, maxItems],
  );
}

/** The report sheet that a run stored when it last closed, with its items and the count of all waiting ones; null without a sheet. */
export async function readReportSheet(database: Queryable, runId: number) {
  const [sheet] = await database.query(
    z.object({ sheetId: z.number(), waiting: z.number() }),
    `select sheet_id, waiting from review_sheet where run_id = $1 order by sheet_id desc limit 1`,
    [runId],
  );
  if (sheet === undefined) return null;
  const items = await database.query(
    z.object({ facts: waitingRow }),
    `select shown.facts
     from review_sheet sheet
     cross join lateral unnest(sheet.shown_ids) with ordinality as listed (shown_id, place)
     join shown_item shown on shown.shown_id = listed.shown_id
     where sheet.sheet_id = $1
     order by listed.place`,
    [sheet.sheetId],
  );
  return { ...sheet, items: items.map(({ facts }) => facts) };
}

/** SQL: a held run (one for which `where` is true) has opened or changed the alert (`item`). */
const isOfHeldRunSql = (where = 'true'): string => `exists (
  select from review_event event
  join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers'
  where event.item_id = item.item_id and ${where}
)`;

/**
 * SQL: an absent alert (`item`, of `party` and `customer`) may be closed in bulk: it has no proposal and is no true match, the customer's record
 * is unchanged, the last answer is complete, and no run that is still held has changed it.
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

/** Days and complete answers for which a match is absent before the policy closes its alert. */
const policyDays = 7;
const policyAnswers = 3;

/**
 * The alerts of a roster on an account that the accepted policy `review.autoClose` closes when a run closes at `now`. They have no disposition,
 * no topic above political exposure, and an absence caused by the service alone. The absence lasts at least seven days and three complete
 * answers of closed runs (a reused answer does not count). No held run has changed them, and no settings were accepted meanwhile.
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
         join search_batch batch on batch.run_id = screening.run_id and batch.batch_id = screening.batch_id
         where screening.party_id = item.party_id and screening.outcome = 'screened'
           and (run.run_id = $1 or run.state in ('complete', 'incomplete'))
           -- The time of the answer counts, because an acceptance moves the end of a run. The absence has the end of its run as date.
           and (batch.committed_at >= item.absent_since or exists (
             select from review_event found
             where found.item_id = item.item_id and found.run_id = run.run_id and found.happened_at = item.absent_since
           ))
           -- A former limit of list lengths may have truncated earlier answers.
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

/** The alerts among these that may be closed in bulk as no longer matched, each with its account. */
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

/** Stores the alerts of a bulk row; gives its number. */
export function saveBulk(database: Queryable, sheetId: number, itemIds: readonly number[]): Promise<number> {
  return readValue(
    database,
    z.number(),
    'insert into review_bulk (sheet_id, item_ids) values ($1, $2::bigint[]) returning bulk_id',
    [sheetId, [...itemIds]],
  );
}

/** The alerts of a bulk row; empty for an unknown number. */
export async function readBulk(database: Queryable, bulkId: number): Promise<readonly number[]> {
  const sql = 'select item_ids from review_bulk where bulk_id = $1';
  return (await findValue(database, z.array(z.number()), sql, [bulkId])) ?? [];
}

/** The most dispositions of an item that a report shows. */
const saidAtMost = 3;

/**
 * Stores the item's state with each newly projected change of these parties, for reports. Changes of first screenings are left out, because
 * they have opened their items.
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
         order by (item.state = 'no_longer_matched'), item.item_id desc limit 1
       ) found
       where not event.is_baseline
     ) stands
     where change_event.change_id = stands.change_id`,
    [rosterId, accountId, now, [...partyIds]],
  );
}
