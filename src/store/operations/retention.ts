import { z } from 'zod';
import type { Queryable } from '../database/database.js';
import { rawSql, sql } from '../database/statement.js';
import { screeningKindsSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';

/** Who holds or releases a customer, why and when. */
interface Said {
  reviewer: { name: string; isAttested: boolean };
  reason: string;
  now: Date;
}

/** Puts a customer under legal hold; gives false where one is in force, and for an erased customer. */
export async function saveHold(
  database: Queryable,
  customerId: number,
  { reviewer, reason, now }: Said,
): Promise<boolean> {
  const saved = await database.execute(
    sql`insert into legal_hold (customer_id, reason, held_by, is_attested, held_at)
     select customer_id, ${reason}, ${reviewer.name}, ${reviewer.isAttested}::boolean, ${now}::timestamptz
     -- An erasure in progress holds the row.
     from (select customer_id from customer where customer_id = ${customerId} for update) customer
     where not exists (select from erasure where erasure.customer_id = customer.customer_id)
     on conflict (customer_id) where (released_at is null) do nothing`,
  );
  return saved === 1;
}

/** Releases the legal hold of a customer; gives false without one. */
export async function releaseHold(
  database: Queryable,
  customerId: number,
  { reviewer, reason, now }: Said,
): Promise<boolean> {
  const released = await database.execute(
    sql`update legal_hold set released_at = ${now}, released_by = ${reviewer.name}, release_reason = ${reason}
     where customer_id = ${customerId} and released_at is null`,
  );
  return released === 1;
}

const dueRow = z.object({
  customerId: z.number(),
  rosterId: z.number(),
  roster: z.string(),
  reference: z.string(),
  leftAt: z.date(),
  isHeld: z.boolean(),
});
/** A customer whose time of retention is over. */
export type DueCustomer = z.infer<typeof dueRow>;

/** The customers of a roster who left before a moment and are not erased, in the order in which they left. */
export const readDueCustomers = (
  database: Queryable,
  organisation: string,
  roster: string,
  leftBefore: Date,
): Promise<readonly DueCustomer[]> =>
  database.query(
    dueRow,
    sql`select customer_id, roster_id, roster.name as roster, reference, left_at,
       exists (select from legal_hold where legal_hold.customer_id = customer.customer_id and released_at is null) as is_held
     from organisation join roster using (organisation_id) join customer using (roster_id)
     where organisation.name = ${organisation} and roster.name = ${roster} and left_at < ${leftBefore}
       and not exists (select from erasure where erasure.customer_id = customer.customer_id)
     order by left_at, customer_id`,
  );

const oldRunRow = z.object({
  runId: z.number(),
  name: z.string(),
  isHeld: z.boolean(),
  /** Null for one that waits. */
  packs: z.array(z.object({ number: z.number(), sha256: z.string().nullable() })),
});
/** A run whose history may leave the database. */
export type OldRun = z.infer<typeof oldRunRow>;

/** The runs with a plan that ended before a moment and still have their history, oldest first. */
export const readOldRuns = (
  database: Queryable,
  organisationId: number,
  endedBefore: Date,
): Promise<readonly OldRun[]> =>
  database.query(
    oldRunRow,
    sql`select run.run_id, ${runIdSql('run')} as name, run.is_held and run.run_id not in (select run_id from accepted_run) as is_held,
       (
         select coalesce(json_agg(json_build_object('number', pack.number, 'sha256', pack.manifest_sha256) order by pack.number), '[]')
         from evidence_pack pack where pack.run_id = run.run_id
       ) as packs
     from run
     where run.organisation_id = ${organisationId} and run.kind in (${screeningKindsSql}) and run.finished_at < ${endedBefore}
       and run.state not in ('running', 'stopped') and run.history_removed_at is null
     order by run.run_id`,
  );

/** What a run leaves in the database by the night; all else of it is small, or is still needed. */
const tablesOfHistory = ['planned', 'call', 'batch', 'failure', 'forced', 'reused'] as const;

/** Removes the plan, the calls and the failures of a run; gives the number of rows. */
export async function removeHistory(transaction: Queryable, runId: number, now: Date): Promise<number> {
  await transaction.execute(sql`select set_config('nightscreen.erases', 'on', true)`);
  await transaction.execute(
    sql`insert into kept_answer (party_id, request_id, response_id)
     select party_id, request_id, response_id from party_answer where run_id = ${runId}
     on conflict do nothing`,
  );
  let rows = 0;
  for (const table of tablesOfHistory) {
    rows += await transaction.execute(sql`delete from ${rawSql(table)} where run_id = ${runId}`);
  }
  // That a change never counted is known from here only.
  rows += await transaction.execute(sql`delete from next_state where run_id = ${runId} and not is_superseded`);
  await transaction.execute(sql`update run set history_removed_at = ${now} where run_id = ${runId}`);
  await transaction.execute(sql`select set_config('nightscreen.erases', 'off', true)`);
  return rows;
}
