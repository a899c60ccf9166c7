import type { Queryable } from './database.js';
import { plainSql, type StagedImport } from './settle-staging.js';

/**
 * Decides what the staged rows are to each other: identical repetitions, rows that contradict each other, related parties of customers
 * nobody knows. Gives how many rows repeat or contradict another one.
 */
export async function judgeRows(transaction: Queryable, { runId, rosterId }: StagedImport): Promise<number> {
  await analyzeRows(transaction);
  const repeated = await transaction.execute(
    `update roster_staging staged set
       is_plain = false,
       is_repetition = not judged.is_conflict,
       reject_reason = case when judged.is_conflict then 'conflicting_id' end
     from (
       select ordinal, place,
         min(digest) over (partition by reference) <> max(digest) over (partition by reference) as is_conflict
       from (
         select ordinal, reference, encode(record_digest, 'hex') as digest,
           row_number() over (partition by reference order by ordinal) as place
         from roster_staging
         where ${plainSql} and reference in (
           select reference from roster_staging where ${plainSql} group by reference having count(*) > 1
         )
       ) repeated
     ) judged
     where staged.run_id = $1 and staged.ordinal = judged.ordinal and (judged.place > 1 or judged.is_conflict)`,
    [runId],
  );
  const judged = repeated + (await judgeBesideRejects(transaction, runId, rosterId));
  if (judged > 0) await analyzeRows(transaction);
  await transaction.execute(
    `update roster_party_staging related set reject_reason = 'unknown_customer'
     where run_id = $1 and reject_reason is null
       and not exists (
         select from roster_staging staged
         where staged.run_id = $1 and staged.reference = related.reference and staged.record_digest is not null
       )
       and not exists (
         select from customer where customer.roster_id = $2 and customer.reference = related.reference
       )`,
    [runId, rosterId],
  );
  return judged;
}

/**
 * A row that was accepted does not speak for a customer of whom another row was rejected: nobody can read whom that one meant. It counts as a
 * contradiction, unless it says what is known of the customer already. Gives how many such rows there are.
 */
function judgeBesideRejects(transaction: Queryable, runId: number, rosterId: number): Promise<number> {
  return transaction.execute(
    `update roster_staging staged set is_plain = false, reject_reason = 'conflicting_id'
     where ${plainSql}
       and reference in (
         select rejected.reference from roster_staging rejected
         where rejected.run_id = $1 and rejected.reject_reason is not null and rejected.record_digest is null
           and rejected.reference is not null
       )
       and not exists (
         select from customer known
         where known.roster_id = $2 and known.reference = staged.reference
           and coalesce(known.own_digest, known.record_digest) = staged.record_digest
       )`,
    [runId, rosterId],
  );
}

// A table that has just grown from nothing must be counted, or it is joined row against row.
async function analyzeRows(transaction: Queryable): Promise<void> {
  await transaction.execute(
    'analyze roster_staging (run_id, ordinal, is_plain, reference, record_digest, reject_reason)',
  );
}
