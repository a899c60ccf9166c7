import { z } from 'zod';
import type { SharedDate, sharing } from '../../roster/fact-dates.js';
import type { Queryable } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { analyzeRows, type StagedImport, takeRoom } from './staging.js';

const sharedRow = z.object({ date: z.string(), rows: z.number() }) satisfies z.ZodType<SharedDate>;

/** The birth dates of a column that too many rows of the roster's last whole snapshot shared. */
export async function readSharedDates(transaction: Queryable, rosterId: number, column: string) {
  const rows = await transaction.query(
    z.object({ date: z.string() }),
    sql`select shared ->> 'value' as date
     from (
       select doubts from roster_import where roster_id = ${rosterId} and not is_delta order by import_id desc limit 1
     ) last
     cross join jsonb_array_elements(last.doubts) as of_column
     cross join jsonb_array_elements(of_column -> 'values') as shared
     where of_column ->> 'column' = ${column} and of_column ->> 'field' = 'birthDate' and shared ->> 'why' = 'frequent_date'`,
  );
  return rows.map(({ date }) => date);
}

/** SQL: a party as JSON whose birth date is uncertain from now on. */
const toUncertainSql = (party: string): Sql =>
  rawSql(`jsonb_set(${party}, '{birthDate}', to_jsonb(${party} ->> 'birthDate' || '?'))`);

/** SQL: `said` of a customer or a party with the birth date as its source has it, unless it is there already. */
const keepSaidSql = (holder: string, birthDate: string): Sql =>
  rawSql(
    `jsonb_build_object('said', jsonb_build_object('birthDate', ${birthDate}) || coalesce(${holder} -> 'said', '{}'))`,
  );

/**
 * Makes these birth dates of staged customers uncertain. The digest of such a record follows from that of its row, so that it is the same in the
 * next snapshot. Gives the number of rows by date.
 */
export async function markSharedBirthDates(transaction: Queryable, runId: number, dates: readonly string[]) {
  if (dates.length === 0) return [];
  return transaction.query(
    sharedRow,
    sql`with marked as (
       update roster_staging set
         record = record
           || jsonb_build_object('parties', (
             select jsonb_agg(
               case when party ->> 'birthDate' = any (${dates}::text[]) then ${toUncertainSql('party')} else party end order by place
             )
             from jsonb_array_elements(record -> 'parties') with ordinality as listed (party, place)
           ))
           || ${keepSaidSql('record', "record #> '{parties,0,birthDate}'")},
         record_digest = substr(sha256(record_digest || convert_to('frequent_date', 'UTF8')), 1, length(record_digest))
       where run_id = ${runId} and record #>> '{parties,0,birthDate}' = any (${dates}::text[])
       returning rtrim(record #>> '{parties,0,birthDate}', '?') as date
     )
     select date, count(*)::integer as rows from marked group by date`,
  );
}

/** Of the given dates those that too many related parties share; one person may be a party of many customers. */
export async function findSharedPartyDates(
  transaction: Queryable,
  runId: number,
  dates: readonly string[],
  limit: typeof sharing,
): Promise<readonly SharedDate[]> {
  if (dates.length === 0) return [];
  return transaction.query(
    sharedRow,
    sql`with dated as materialized (
       select rtrim(party ->> 'birthDate', '?') as date, party ->> 'sentName' as name
       from roster_staging where run_id = ${runId} and is_party and party ->> 'birthDate' is not null
     )
     select date, count(*)::integer as rows from dated where date = any (${dates}::text[])
     group by date
     having count(distinct name) > ${limit.rows} and count(distinct name) > ${limit.share}::float8 * (select count(distinct (name, date)) from dated)`,
  );
}

/** Makes these birth dates of staged related parties uncertain. */
export async function markSharedPartyDates(transaction: Queryable, runId: number, dates: readonly string[]) {
  if (dates.length === 0) return;
  await transaction.execute(sql`
    update roster_staging set party = ${toUncertainSql('party')} || ${keepSaidSql('party', "party -> 'birthDate'")}
    where run_id = ${runId} and is_party and party ->> 'birthDate' = any (${dates}::text[])`);
}

/**
 * Of the given end dates, finds those by which too many customers would leave at once, and keeps these customers. Customers that have left are
 * not counted and stay so. Gives the number of kept customers by date.
 */
export async function keepSharedEnds(
  transaction: Queryable,
  { runId, rosterId }: StagedImport,
  dates: readonly string[],
  limit: typeof sharing,
): Promise<readonly SharedDate[]> {
  if (dates.length === 0) return [];
  await takeRoom(transaction);
  await analyzeRows(transaction);
  return transaction.query(
    sharedRow,
    sql`with leaving as materialized (
       select staged.ordinal, staged.record ->> 'endDate' as date
       from roster_staging staged
       left join customer on customer.roster_id = ${rosterId} and customer.reference = staged.reference
       where staged.run_id = ${runId} and staged.leaves = 'end_date' and customer.left_at is null
     ),
     shared as (
       select date, count(*)::integer as rows from leaving where date = any (${dates}::text[])
       group by date
       having count(*) > ${limit.rows} and count(*) > ${limit.share}::float8 * greatest(
         (select count(*) from roster_staging where run_id = ${runId} and record is not null),
         (select count(*) from customer where roster_id = ${rosterId} and left_at is null)
       )
     ),
     kept as (
       update roster_staging staged set leaves = null
       from leaving join shared using (date)
       where staged.run_id = ${runId} and staged.ordinal = leaving.ordinal
     )
     select date, rows from shared`,
  );
}
