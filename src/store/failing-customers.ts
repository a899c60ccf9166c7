import { z } from 'zod';
import type { Queryable } from './database.js';
import { runIdSql } from './run-id.js';

/** Customers of a roster whose searches fail, against what was last told of them. */
export interface FailingFacts {
  customers: number;
  /** Whose searches did not fail yet when that was told. */
  newly: number;
  /** Without a valid answer for longer than is put up with, which was not so yet when that was told. */
  aged: number;
  /** Since when the one that waits longest has had none. */
  since: Date | null;
  /** The newest run that had failures and was looked at; null when there is none. */
  run: { runId: number; name: string } | null;
}

const noneFailing: FailingFacts = { customers: 0, newly: 0, aged: 0, since: null, run: null };

const failingRow = z
  .object({
    customers: z.number(),
    newly: z.number(),
    aged: z.number(),
    since: z.date().nullable(),
    runId: z.number().nullable(),
    name: z.string().nullable(),
  })
  .transform(
    ({ runId, name, ...counts }): FailingFacts => ({
      ...counts,
      run: runId === null || name === null ? null : { runId, name },
    }),
  );

/**
 * Counts the customers in scope whose last search failed and who have had no valid answer since. `told`: the newest run and the moment when
 * they were last told of; null when they never were. `agedMs`: how long is put up with.
 */
export async function readFailing(
  database: Queryable,
  { rosterId, accountId }: { rosterId: number; accountId: number },
  { told, agedMs, now }: { told: { runId: number; at: Date } | null; agedMs: number; now: Date },
): Promise<FailingFacts> {
  const rows = await database.query(
    failingRow,
    // A run that was told of and is gone on with counts as it did.
    `with plans as materialized (
       select run_id from run
       where roster_id = $1 and account_id = $2 and in_scope is not null and state <> 'unbalanced'
         and (state <> 'running' or run_id <= $3::bigint)
         and (sums #>> '{counts,failed}')::integer > 0
       order by run_id desc limit 30
     ),
     failing as (
       select party.customer_id, array_agg(screening.run_id) as failed_run_ids,
         coalesce(min(state.screened_at), min(joined.imported_at)) as since
       from plans
       join screening on screening.run_id = plans.run_id and screening.outcome = 'failed'
       join party on party.party_id = screening.party_id and party.is_current
       join customer on customer.customer_id = party.customer_id and customer.left_at is null
       join roster_import joined on joined.import_id = customer.first_import_id
       left join party_state state on state.account_id = $2 and state.party_id = party.party_id
       where screening.run_id > coalesce(state.run_id, 0)
       group by party.customer_id, party.party_id
     ),
     customers as (
       select customer_id, min(since) as since,
         bool_or(not exists (select from unnest(failed_run_ids) failed where failed <= coalesce($3::bigint, 0))) as is_new
       from failing group by customer_id
     )
     select count(*) as customers, count(*) filter (where is_new) as newly, min(since) as since,
       count(*) filter (
         where since <= $5::timestamptz - $6::float8 * interval '1 millisecond'
           and ($4::timestamptz is null or since > $4::timestamptz - $6::float8 * interval '1 millisecond')
       ) as aged,
       (select max(run_id) from plans) as "runId",
       (select ${runIdSql('run')} from run where run_id = (select max(run_id) from plans)) as name
     from customers`,
    [rosterId, accountId, told?.runId ?? null, told?.at ?? null, now, agedMs],
  );
  return rows[0] ?? noneFailing;
}
