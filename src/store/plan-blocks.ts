import { z } from 'zod';
import { firstRow, type Queryable, requireRows } from './database/database.js';

/** SQL: the numbers of an array as offsets from a base. */
const toOffsetsSql = (ids: string, base: string): string =>
  `array(select (id - ${base})::integer from unnest(${ids}) as id)`;

/**
 * SQL: stores the rows of `plan` as the plan of a run. Parties of one range that are planned alike share a row.
 */
export const toPlanBlocksSql = (run: string): string => `
  insert into plan_block (
    run_id, party_range, part, plan_reason, outcome, outcome_reason, request_base, customer_version, places, requests, customer_versions,
    search_orders
  )
  select ${run}, party_range, row_number() over (partition by party_range), reason, outcome, outcome_reason, request_base,
    case when first_version = last_version then first_version end, places, ${toOffsetsSql('requests', 'request_base')},
    case when first_version <> last_version then versions end, case when outcome = 'remaining' then search_orders end
  from (
    select party_id >> 7 as party_range, reason, outcome, outcome_reason, min(request_id) as request_base,
      min(version) as first_version, max(version) as last_version,
      array_agg((party_id & 127)::integer::"char" order by party_id) as places,
      array_agg(request_id order by party_id) as requests,
      array_agg(version order by party_id) as versions,
      array_agg(search_order order by party_id) as search_orders
    from plan
    -- Offsets of 31 bits: what is further apart lies in rows of its own.
    group by party_id >> 7, reason, outcome, outcome_reason, request_id >> 31
  ) grouped
  order by party_range`;

/**
 * SQL: the parties of an array as their run's plan has them (`task`), without those that have a row in `planned_screening`; ends in a
 * condition. Each is looked up by its place: whole blocks are not opened for single parties.
 */
export const toPlannedSql = (run: string, parties: string): string => `
  select asked.party_id, task.request_base + task.requests[place.at] as request_id, task.plan_reason, task.outcome,
    coalesce(task.customer_version, task.customer_versions[place.at]) as customer_version, task.search_orders[place.at] as search_order
  from unnest(${parties}::bigint[]) as asked (party_id)
  join plan_block task on task.run_id = ${run} and task.party_range = asked.party_id >> 7
  -- offset 0: otherwise the place is looked for at each of its uses.
  cross join lateral (select array_position(task.places, (asked.party_id & 127)::integer::"char") as at offset 0) place
  where place.at is not null
    -- They are few and read once: looked up for each party, they took half of the time.
    and asked.party_id <> all (array(select party_id from planned_screening where run_id = ${run} and party_id = any (${parties}::bigint[])))`;

const columns =
  'run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order';

/** Gives the parties of a run ($1) a row of their own, so that their outcome can be changed. */
export async function unpackScreenings(
  transaction: Queryable,
  screeningsSql: string,
  parameters: readonly unknown[],
): Promise<void> {
  await transaction.execute(
    `insert into planned_screening (${columns})
     select ${columns} from open_screening screening
     where run_id = $1 and ${screeningsSql}
       and not exists (select from planned_screening known where known.run_id = screening.run_id and known.party_id = screening.party_id)`,
    parameters,
  );
}

const isUsualSql = `(outcome = 'screened' or outcome = 'skipped' and outcome_reason = 'not_due')`;

const packedRow = z.object({
  usual: z.number(),
  packed: z.number(),
  unusual: z.number(),
  kept: z.number(),
  stored: z.number(),
  removed: z.number(),
});

/** Packs the usual outcomes of a run that has ended into blocks, also those that an acceptance gave back, and drops its plan. */
export async function packScreenings(transaction: Queryable, runId: number): Promise<void> {
  const rows = await transaction.query(
    packedRow,
    `with listed as materialized (
       select *, ${isUsualSql} as is_usual from open_screening where run_id = $1
     ),
     usual as (select * from listed where is_usual),
     cleared as (delete from planned_screening where run_id = $1 and ${isUsualSql} returning run_id),
     dropped as (delete from plan_block where run_id = $1 returning run_id),
     kept as (
       insert into planned_screening (${columns})
       select ${columns} from listed
       where not is_usual
         and not exists (select from planned_screening known where known.run_id = $1 and known.party_id = listed.party_id)
       returning party_id
     ),
     packed as (
     insert into screening_block (
       run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests,
       responses, batches, customer_versions
     )
     select $1, party_range,
       row_number() over (partition by party_range)
         + coalesce((select max(part) from screening_block known where known.run_id = $1 and known.party_range = grouped.party_range), 0),
       plan_reason, outcome, request_base, response_base, batch_base,
       case when first_version = last_version then first_version end,
       places, ${toOffsetsSql('requests', 'request_base')}, case when response_base is not null then ${toOffsetsSql('responses', 'response_base')} end,
       case when batch_base is not null then ${toOffsetsSql('batches', 'batch_base')} end, case when first_version <> last_version then customer_versions end
     from (
       select party_range, plan_reason, outcome,
         min(request_id) as request_base, min(response_id) as response_base, min(batch_id) as batch_base,
         min(customer_version) as first_version, max(customer_version) as last_version,
         array_agg((party_id & 127)::integer::"char" order by party_id) as places,
         array_agg(request_id order by party_id) as requests,
         array_agg(response_id order by party_id) as responses,
         array_agg(batch_id order by party_id) as batches,
         array_agg(customer_version order by party_id) as customer_versions
       from usual
       -- Offsets of 31 bits: what is further apart lies in blocks of its own.
       group by party_range, plan_reason, outcome, request_id >> 31, response_id >> 31, batch_id >> 31
     ) grouped
     returning cardinality(places) as parties
     )
     select (select count(*) from usual)::integer as usual, (select coalesce(sum(parties), 0) from packed)::integer as packed,
       (select count(*) from listed where not is_usual)::integer
         - (select count(*) from planned_screening where run_id = $1 and not ${isUsualSql})::integer as unusual,
       (select count(*) from kept)::integer as kept,
       ((select count(*) from plan_block where run_id = $1)
         + (select count(*) from planned_screening where run_id = $1 and ${isUsualSql}))::integer as stored,
       ((select count(*) from dropped) + (select count(*) from cleared))::integer as removed`,
    [runId],
  );
  const { usual, packed, unusual, kept, stored, removed } = firstRow(rows, 'screening_block');
  requireRows(packed, usual, 'screening_block');
  requireRows(kept, unusual, 'planned_screening');
  requireRows(removed, stored, 'plan_block');
}
