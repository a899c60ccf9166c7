import { z } from 'zod';
import type { CutChanges } from '../reports/cut-list.js';
import type { MatchChangeFacts } from '../reports/run-facts.js';
import type { CountedFlood, floodExamples, floodFrom } from '../reports/split-floods.js';
import { changeRow, likenessShape, matchChangeSql } from './change-facts.js';
import type { Database, Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { severityShape } from './item-shapes.js';
import { isOnListSql, type MatchList, readMatchList, toParameters } from './match-lists.js';

const examples: typeof floodExamples = 3;
const atLeast: typeof floodFrom = 20;

const shape = {
  severity: severityShape,
  ...likenessShape.pick({ kind: true, cause: true }).shape,
  customers: z.number(),
  changes: z.number(),
  exampleIds: z.array(z.number()),
};
const floodRow = z.discriminatedUnion('by', [
  z.object({ ...shape, by: z.literal('listed_party'), id: z.string(), name: z.string() }),
  z.object({
    ...shape,
    by: z.literal('kind_of_change'),
    ...likenessShape.pick({ rule: true, fields: true }).shape,
    wasHit: z.boolean().nullable(),
    isHit: z.boolean().nullable(),
  }),
]);

const countsSql = `count(distinct customer_id)::integer as customers, count(*)::integer as changes,
  (array_agg(change_id order by reference collate "C", change_id))[1:${examples}] as "exampleIds"`;

/** What `findFloods` finds in lists that are held: by listed party first, then by kind; no hit for a sanction, and by kind no new hit. */
const floodsSql = `
  with told as materialized (
    select event.change_id, event.severity, event.kind, event.cause, event.rule, event.fields, party.customer_id, customer.reference,
      coalesce(event.after, event.before) ->> 'id' as id, coalesce(event.after, event.before) ->> 'name' as name,
      event.before is null or event.kind in ('hit_gained', 'match_returned') as is_new,
      (event.before ->> 'isHit')::boolean as was_hit, (event.after ->> 'isHit')::boolean as is_hit
    from change_event event join party using (party_id) join customer using (customer_id)
    where ${isOnListSql} and not event.sanction_hit
  ),
  by_party as (
    select severity, kind, cause, id, name, ${countsSql} from told where id is not null
    group by severity, kind, cause, id, name having count(distinct customer_id) >= ${atLeast}
  ),
  by_kind as (
    select severity, kind, cause, rule, fields, was_hit, is_hit, ${countsSql} from told
    where not (is_new and coalesce(is_hit, false)) and not exists (
      select from by_party where (by_party.severity, by_party.kind, by_party.cause, by_party.id, by_party.name)
        = (told.severity, told.kind, told.cause, told.id, told.name)
    )
    group by severity, kind, cause, rule, fields, was_hit, is_hit having count(distinct customer_id) >= ${atLeast}
  )
  select 'listed_party' as by, severity, kind, cause, id, name, null as rule, null as fields, null::boolean as "wasHit",
    null::boolean as "isHit", customers, changes, "exampleIds" from by_party
  union all
  select 'kind_of_change', severity, kind, cause, null, null, rule, fields, was_hit, is_hit, customers, changes, "exampleIds" from by_kind`;

/** The changes that runs found: the first of them, and where there are more how many, what of them is alike, and how to read all. */
export async function readChanges(
  database: Queryable,
  lists: Pick<Database, 'cursor'>,
  runIds: readonly number[],
  now: Date,
): Promise<{ held: readonly MatchChangeFacts[]; cut: CutChanges | null }> {
  const list = { runIds, isBaseline: false };
  const { held, cut } = await readMatchList(database, lists, list);
  if (cut === null) return { held, cut };
  const floods = await database.query(floodRow, floodsSql, toParameters(list));
  return {
    held,
    cut: {
      ...cut,
      floods: floods.map((flood) => toFlood(flood, lists)),
      nextDueAt: await readNextDue(database, list, now),
    },
  };
}

function toFlood(row: z.infer<typeof floodRow>, lists: Pick<Database, 'cursor'>): CountedFlood {
  const { severity, customers, changes, exampleIds } = row;
  const readExamples = async (): Promise<readonly MatchChangeFacts[]> => {
    const found: MatchChangeFacts[] = [];
    const sql = `${matchChangeSql} where event.change_id = any ($1::bigint[]) order by array_position($1::bigint[], event.change_id)`;
    for await (const batch of lists.cursor(changeRow, sql, [exampleIds], examples)) found.push(...batch);
    return found;
  };
  const counted = { severity, customers, changes, readExamples };
  return row.by === 'listed_party' ? { ...counted, by: row.by, of: row } : { ...counted, by: row.by, of: row };
}

/** Until when the first of the items that wait and are not overdue at `now` is to be decided. */
async function readNextDue(database: Queryable, list: MatchList, now: Date): Promise<Date | null> {
  const rows = await database.query(
    z.object({ dueAt: z.date().nullable() }),
    `select min((event.item ->> 'dueAt')::timestamptz) as "dueAt" from change_event event
     where ${isOnListSql} and event.item ->> 'state' in ('open', 'proposed') and (event.item ->> 'dueAt')::timestamptz >= $3`,
    [...toParameters(list), now],
  );
  return firstRow(rows, 'change_event').dueAt;
}
