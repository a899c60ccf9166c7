import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Which import is being settled. */
export interface StagedImport {
  runId: number;
  rosterId: number;
  /** Adds and changes only: whom it does not show stays as it is. */
  isDelta: boolean;
}

/** SQL for the accepted rows of run $1 that stand for a customer by themselves. */
export const plainSql = 'run_id = $1 and is_plain';

/** Gives room to sort and join a large roster, and no time to compiling what runs once, for this transaction only. */
export async function takeRoom(transaction: Queryable): Promise<void> {
  await transaction.execute("select set_config('work_mem', '256MB', true), set_config('jit', 'off', true)");
}

/** Whether no snapshot of the roster has brought a customer yet. */
export async function isFirstImport(transaction: Queryable, rosterId: number): Promise<boolean> {
  const rows = await transaction.query(
    z.object({ is_first: z.boolean() }),
    'select not exists (select from customer where roster_id = $1) as is_first',
    [rosterId],
  );
  return firstRow(rows, 'customer').is_first;
}

/** Collects the customers that are more than one row of the roster, each with all that the snapshot says of them. */
export async function collectCases(
  transaction: Queryable,
  { runId, rosterId, isDelta }: StagedImport,
  judgedRows: number,
): Promise<void> {
  if (judgedRows > 0) {
    await analyzeRecords(transaction);
    await collectConflicts(transaction, runId, isDelta);
  }
  await transaction.execute(
    `insert into roster_case (run_id, reference, related, keeps_related)
     select $1, reference, coalesce(jsonb_agg(distinct party) filter (where reject_reason is null), '[]'),
       bool_or(reject_reason is not null)
     from roster_party_staging related
     where run_id = $1 and reference is not null and reject_reason is distinct from 'unknown_customer'
       and (
         exists (
           select from roster_staging staged
           where staged.run_id = $1 and staged.reference = related.reference and staged.record_digest is not null
         )
         or exists (
           select from customer
           where customer.roster_id = $2 and customer.reference = related.reference
             -- Of whom a part of the roster says nothing, only who is there can be changed by it.
             and (not $3 or customer.absent_since is null and customer.left_at is null)
         )
       )
     group by reference
     on conflict (run_id, reference) do update set related = excluded.related, keeps_related = excluded.keeps_related`,
    [runId, rosterId, isDelta],
  );
  // Who is shown by a part of the roster only keeps the related parties that this part says nothing of; and a row of a related party that
  // was rejected without saying of whom may be anybody's.
  const keepsAll = isDelta || (await hasStrayParties(transaction, runId));
  if (keepsAll) {
    await transaction.execute('update roster_case set keeps_related = true where run_id = $1', [runId]);
    await transaction.execute(
      `insert into roster_case (run_id, reference, keeps_related)
       select $1, staged.reference, true
       from customer join roster_staging staged on staged.reference = customer.reference
       where ${plainSql} and customer.roster_id = $2 and (
         customer.own_digest is not null
         -- Who is only known by rows that contradict each other has no row of their own yet.
         or exists (
           select from customer_version latest
           where latest.customer_id = customer.customer_id and latest.version = customer.version
             and jsonb_array_length(latest.record -> 'parties') > 1
         )
       )
       on conflict (run_id, reference) do nothing`,
      [runId, rosterId],
    );
  }
  await fillCases(transaction, runId, isDelta);
}

async function hasStrayParties(transaction: Queryable, runId: number): Promise<boolean> {
  const rows = await transaction.query(
    z.object({ found: z.boolean() }),
    `select exists (
       select from roster_party_staging
       where run_id = $1 and reject_reason is not null and (reference is null or reject_reason = 'unknown_customer')
     ) as found`,
    [runId],
  );
  return firstRow(rows, 'roster_party_staging').found;
}

// Tables that have just grown from nothing must be counted, or they are joined row against row; nobody else does so in time.

/** Has the records of staged rows counted, for whoever is about to join them. */
export async function analyzeRecords(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze roster_record (run_id, ordinal)');
}

/** Has what a snapshot changes counted, for whoever is about to join it. */
export async function analyzeSteps(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze roster_step (run_id, kind, is_shown, reference, customer_id, ordinal)');
}

async function collectConflicts(transaction: Queryable, runId: number, isDelta: boolean): Promise<void> {
  await transaction.execute(
    `insert into roster_case (run_id, reference, conflicts, keeps_related)
     select $1, reference, jsonb_agg(parties order by ordinal), $2
     from (
       select distinct on (reference, record_digest) reference, ordinal, record -> 'parties' as parties
       from roster_staging join roster_record using (run_id, ordinal)
       where run_id = $1 and reject_reason = 'conflicting_id'
       order by reference, record_digest, ordinal
     ) conflicting
     group by reference`,
    [runId, isDelta],
  );
}

/** Takes the accepted rows of cases out of those that stand by themselves. */
async function fillCases(transaction: Queryable, runId: number, isDelta: boolean): Promise<void> {
  const rows = await transaction.query(
    z.object({ found: z.boolean() }),
    'select exists (select from roster_case where run_id = $1) as found',
    [runId],
  );
  if (!firstRow(rows, 'roster_case').found) return;
  await transaction.execute('analyze roster_case (run_id, reference)');
  await analyzeRecords(transaction);
  await transaction.execute(
    `update roster_case whole set
       ordinal = staged.ordinal, own_record = said.record, own_digest = staged.record_digest, leaves = staged.leaves
     from roster_staging staged join roster_record said using (run_id, ordinal)
     where whole.run_id = $1 and staged.run_id = $1 and staged.reference = whole.reference
       and staged.reject_reason is null and not staged.is_repetition`,
    [runId],
  );
  await transaction.execute(
    `update roster_case whole set is_shown = true
     where run_id = $1 and ($2 or exists (
       select from roster_staging staged where staged.run_id = $1 and staged.reference = whole.reference
     ))`,
    [runId, isDelta],
  );
  await transaction.execute(
    `update roster_staging staged set is_plain = false
     where ${plainSql} and exists (
       select from roster_case whole where whole.run_id = $1 and whole.reference = staged.reference
     )`,
    [runId],
  );
}

/**
 * Notes whom the snapshot adds, changes, misses or shows again, customers with cases of their own aside. Nothing is noted of those that
 * are as they were: of a roster of a million that is most of them, every night.
 */
export async function compareWithKnown(transaction: Queryable, staged: StagedImport): Promise<void> {
  const { runId, rosterId, isDelta } = staged;
  const noted = await transaction.execute(
    `insert into roster_step (run_id, kind, is_shown, has_record, reference, customer_id, version, ordinal, leaves, record_digest)
     select $1,
       case
         when known.customer_id is null then 'new'
         when shown.record_digest <> known.record_digest then 'changed'
         else 'same'
       end,
       shown.reference is not null, shown.ordinal is not null, coalesce(known.reference, shown.reference), known.customer_id, known.version, shown.ordinal,
       shown.leaves, case when shown.record_digest <> known.record_digest or known.customer_id is null then shown.record_digest end
     from (
       select reference, ordinal, record_digest, leaves from roster_staging where ${plainSql}
       union all
       select distinct rejected.reference, null::integer, null::bytea, null
       from roster_staging rejected
       where rejected.run_id = $1 and rejected.reject_reason is not null and rejected.reference is not null
         and not exists (
           select from roster_staging staged
           where staged.run_id = $1 and staged.reference = rejected.reference and staged.reject_reason is null
         )
         and not exists (
           select from roster_case whole where whole.run_id = $1 and whole.reference = rejected.reference
         )
     ) shown
     full join (
       select customer_id, reference, version, record_digest, absent_since, left_at from customer
       where roster_id = $2 and not exists (
         select from roster_case whole where whole.run_id = $1 and whole.reference = customer.reference
       )
     ) known on known.reference = shown.reference
     where case
       when known.customer_id is null then shown.ordinal is not null
       when shown.reference is null then not $3 and known.left_at is null
       else coalesce(shown.record_digest <> known.record_digest, false) or known.absent_since is not null
         or (shown.leaves is null) = (known.left_at is not null)
     end`,
    [runId, rosterId, isDelta],
  );
  if (noted === 0) return;
  await analyzeSteps(transaction);
  await analyzeRecords(transaction);
  await transaction.execute(
    `update roster_step step set record = said.record
     from roster_record said
     where step.run_id = $1 and said.run_id = $1 and said.ordinal = step.ordinal and step.kind in ('new', 'changed')`,
    [runId],
  );
  await makeSeatedCases(transaction, runId);
}

/** A change of somebody who has or had several parties needs each of them to be found again. */
async function makeSeatedCases(transaction: Queryable, runId: number): Promise<void> {
  const isSeated = `
    step.run_id = $1 and step.kind = 'changed' and (
      jsonb_array_length(step.record -> 'parties') > 1
      or exists (
        select from customer_version former
        where former.customer_id = step.customer_id and jsonb_array_length(former.record -> 'parties') > 1
      )
    )`;
  await transaction.execute(
    `insert into roster_case (run_id, reference, ordinal, own_record, own_digest, leaves, is_shown)
     select step.run_id, step.reference, step.ordinal, step.record, step.record_digest, step.leaves, true
     from roster_step step where ${isSeated}`,
    [runId],
  );
  await transaction.execute(`delete from roster_step step where ${isSeated}`, [runId]);
}
