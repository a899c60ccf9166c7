import { z } from 'zod';
import { StoreError } from '../../errors.js';
import type { ReviewItem, SeenCustomer, SeenFacts } from '../../matches/review-item.js';
import {
  absences,
  dispositionVerdicts,
  itemStates,
  type Severity,
  severities,
  type WorstTopic,
} from '../../vocabulary.js';
import type { Queryable } from '../database/database.js';
import { seenCustomerSchema, seenCustomerSql, storedMatchSchema } from '../row-shapes.js';
import type { ProjectionScope } from './unprojected.js';

/** An item as it is stored. */
export interface StoredItem extends ReviewItem {
  partyId: number;
  /** As the roster described it when the match was last seen. */
  customer: SeenCustomer;
  severity: Severity;
  rule: string;
  priority: number;
  openedAt: Date;
  dueAt: Date | null;
  /** Whether the customer is a true match because of it; ends by `false_positive` or `no_longer_matched` alone. */
  isConfirmed: boolean;
  /** Whether a held run found it as it is listed, after the party's last answer that counts. */
  isProvisional: boolean;
}

const texts = z.array(z.string());
/** What a reviewer saw, as it is stored. */
const seenFactsSchema = z.object({
  listed: z.object({ schema: z.string(), name: z.string(), topics: texts, birthDates: texts, countries: texts }),
  customer: z.object({
    role: z.string(),
    type: z.string(),
    name: z.string(),
    birthDate: z.string().nullable(),
    countries: texts,
  }),
}) satisfies z.ZodType<SeenFacts>;

const itemRow = z
  .object({
    itemId: z.number(),
    partyId: z.number(),
    customer: seenCustomerSchema,
    state: z.enum(itemStates),
    listed: storedMatchSchema,
    severity: z.enum(severities),
    rule: z.string(),
    priority: z.number(),
    openedAt: z.date(),
    dueAt: z.date().nullable(),
    isConfirmed: z.boolean(),
    isProvisional: z.boolean(),
    absence: z.enum(absences).nullable(),
    verdict: z.enum(dispositionVerdicts).nullable(),
    isFinal: z.boolean(),
    seen: seenFactsSchema.nullable(),
    expiresAt: z.date().nullable(),
  })
  .transform(({ verdict, isFinal, seen, expiresAt, ...item }): StoredItem => {
    const disposition = verdict === null || seen === null ? null : { verdict, isFinal, seen, expiresAt };
    return { ...item, disposition };
  });

/** Holds the items of parties on an account until the transaction ends, in the order in which everybody holds items: nobody decides meanwhile. */
export async function holdItemsOfParties(transaction: Queryable, accountId: number, partyIds: readonly number[]) {
  await transaction.execute(
    `select from review_item where account_id = $1 and party_id = any ($2::bigint[]) order by item_id for update`,
    [accountId, [...partyIds]],
  );
}

/** The items of parties on an account, by party id. */
export async function readReviewItems(database: Queryable, accountId: number, partyIds: readonly number[]) {
  const rows = await database.query(
    itemRow,
    `select item.item_id, item.party_id, item.state, item.listed, item.severity, item.rule, item.priority,
       item.opened_at, item.due_at, disposition.verdict, disposition.seen,
       coalesce(disposition.kind <> 'proposed', false) as "isFinal", disposition.expires_at,
       item.is_confirmed, item.absence, ${seenCustomerSql} as customer,
       item.absence is null and item.state <> 'gone' and exists (
         select from review_event event
         join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers' and hold.held_at >= event.happened_at
         where event.item_id = item.item_id and event.run_id > coalesce(state.run_id, 0)
       ) as "isProvisional"
     from review_item item
     join party on party.party_id = item.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = item.customer_version
     left join disposition on disposition.disposition_id = item.disposition_id
     left join party_state state on state.party_id = item.party_id and state.account_id = item.account_id
     where item.account_id = $1 and item.party_id = any ($2::bigint[])
     order by item.item_id`,
    [accountId, [...partyIds]],
  );
  const byParty = new Map<number, StoredItem[]>();
  for (const row of rows) byParty.set(row.partyId, [...(byParty.get(row.partyId) ?? []), row]);
  return byParty;
}

/** An item as it is to be stored; without an id it is new. */
export interface ItemChange
  extends Pick<StoredItem, 'partyId' | 'state' | 'absence' | 'listed' | 'severity' | 'rule' | 'priority'> {
  itemId: number | null;
  /** The record beside which the match was last seen; null keeps the one that is stored. */
  customerVersion: number | null;
  /** The most serious topic family of the listed party. */
  topic: WorstTopic;
  isBaseline: boolean;
  openedAt: Date;
  dueAt: Date | null;
  /** Whether the decision that it had stands no longer. */
  dropsDisposition: boolean;
  event: {
    kind: 'opened' | 'reopened' | 'escalated' | 'rekeyed' | 'absent' | 'gone' | 'returned';
    reasons: readonly string[];
  } | null;
}

/** Stores what a run has made of items, with the history; throws StoreError unless every one of them is. */
export async function saveItemChanges(
  transaction: Queryable,
  { accountId, runId, now }: { accountId: number; runId: number; now: Date },
  changes: readonly ItemChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change, place) => ({ ...change, place, ...change.event }));
  const saved = await transaction.query(
    z.object({ items: z.number() }),
    `with change as (
       select * from jsonb_to_recordset($4::text::jsonb) as row (
         place integer, "itemId" bigint, "partyId" bigint, state text, listed jsonb, "customerVersion" integer, severity text, rule text,
         priority smallint, absence text, topic text, "isBaseline" boolean, "openedAt" timestamptz, "dueAt" timestamptz, "dropsDisposition" boolean,
         kind text, reasons text[]
       )
     ),
     numbered as (
       select change.*, coalesce("itemId", nextval(pg_get_serial_sequence('review_item', 'item_id'))) as item_id from change
     ),
     inserted as (
       insert into review_item (
         item_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at,
         absence, absent_since, topic
       ) overriding system value
       select item_id, $1, "partyId", state, listed, "customerVersion", severity, rule, priority, "isBaseline", "openedAt", "dueAt",
         absence, case when absence is not null then $3::timestamptz end, topic
       from numbered where "itemId" is null
       returning item_id
     ),
     updated as (
       update review_item item set
         state = numbered.state, listed = numbered.listed, customer_version = coalesce(numbered."customerVersion", item.customer_version), severity = numbered.severity,
         rule = numbered.rule, priority = numbered.priority, opened_at = numbered."openedAt", due_at = numbered."dueAt",
         absence = numbered.absence, topic = numbered.topic,
         absent_since = case when numbered.absence is not null then coalesce(item.absent_since, $3::timestamptz) end,
         disposition_id = case when numbered."dropsDisposition" then null else item.disposition_id end
       from numbered where numbered."itemId" = item.item_id
       returning item.item_id
     ),
     reported as (
       insert into review_event (item_id, kind, happened_at, run_id, reasons, severity)
       select item_id, kind, $3, $2, coalesce(reasons, '{}'), severity from numbered where kind is not null order by place
     )
     select ((select count(*) from inserted) + (select count(*) from updated))::integer as items`,
    [accountId, runId, now, JSON.stringify(rows)],
  );
  const items = saved[0]?.items ?? 0;
  if (items === changes.length) return;
  throw new StoreError(
    'items_not_whole',
    `${items} of ${changes.length} review items could be stored; please report this`,
  );
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
export const reopenedBecauseSql = (item: string): string => `coalesce((
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
export const replacedSql = (item: string): string => `(
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

/** How many of the things that were said about an item a report shows. */
const saidAtMost = 3;

/**
 * Keeps with each change of these parties of which items have just been made how its item stands, for reports. First screenings have nothing
 * to tell: their items were opened by them.
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
