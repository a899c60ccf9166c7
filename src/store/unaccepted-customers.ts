import type { Queryable } from './database/database.js';
import { relatedPath, type StagedImport } from './roster-staging.js';

/** SQL: roster $2 has a customer with this reference, possibly only from contradicting rows. */
const isKnownSql = (reference: string): string => `exists (
  select from customer known where known.roster_id = $2 and known.reference = ${reference}
)`;

/** Stores the unreadable customers and related parties of a merged snapshot. */
export async function saveUnreadable(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  await saveUnaccepted(transaction, staged, importedAt);
  await saveUnreadableParties(transaction, staged, importedAt);
}

/**
 * Stores the ids of a merged snapshot without any accepted record: such customers cannot be screened. Ids that have a
 * record now, or that a whole snapshot no longer names, are deleted.
 */
async function saveUnaccepted(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  const { runId, rosterId, isDelta } = staged;
  await transaction.execute(
    `delete from unaccepted_customer unaccepted
     where roster_id = $2 and (
       ${isKnownSql('unaccepted.reference')}
       or not $3 and not exists (
         select from roster_staging staged
         where staged.run_id = $1 and staged.reference = unaccepted.reference and staged.reject_reason is not null
       )
     )`,
    [runId, rosterId, isDelta],
  );
  await transaction.execute(
    `insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
     select $2::bigint, reference, 'row_rejected', $3, $1::bigint
     from (
       select distinct reference from roster_staging where run_id = $1 and reject_reason is not null and reference is not null
     ) named
     where not ${isKnownSql('named.reference')}
     on conflict (roster_id, reference) do update set reason = excluded.reason, run_id = excluded.run_id`,
    [runId, rosterId, importedAt],
  );
}

/**
 * Stores the new ids of a held roster, its rejected rows included, and deletes those that only an earlier held roster
 * named. Gives the number of stored ids. Nothing else of a held roster takes effect.
 */
export async function saveHeldIds(transaction: Queryable, { runId, rosterId, isDelta }: StagedImport, heldAt: Date) {
  await transaction.execute(
    `delete from unaccepted_customer unaccepted
     where roster_id = $2 and reason = 'roster_held' and not $3 and not exists (
       select from roster_staging staged where staged.run_id = $1 and staged.reference = unaccepted.reference
     )`,
    [runId, rosterId, isDelta],
  );
  return transaction.execute(
    `insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
     select $2::bigint, reference, 'roster_held', $3, $1::bigint
     from (select distinct reference from roster_staging where run_id = $1 and reference is not null) named
     where not ${isKnownSql('named.reference')}
     on conflict (roster_id, reference) do update set run_id = excluded.run_id where unaccepted_customer.reason = 'roster_held'`,
    [runId, rosterId, heldAt],
  );
}

/**
 * Marks the customers with an unreadable related party: more unreadable rows than known parties without another row
 * mean that one of them was never known. The mark ends when no unreadable row may concern the customer.
 */
async function saveUnreadableParties(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  const { runId, rosterId, isDelta } = staged;
  await transaction.execute(
    `with named as materialized (
       select reference, count(distinct fields::text) filter (where reject_reason is not null) as unreadable,
         count(distinct party) filter (where reject_reason is null) as readable
       from roster_party_staging
       where run_id = $1 and reference is not null and reject_reason is distinct from 'unknown_customer'
       group by reference
     ),
     assessed as (
       select customer.customer_id, named.unreadable > (
         select count(*) from jsonb_path_query(latest.record, '$.parties[*] ? (${relatedPath})')
       ) - named.readable or customer.unreadable_party_since is not null as is_unreadable
       from named
       join customer on customer.roster_id = $2 and customer.reference = named.reference
       join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
       where named.unreadable > 0
     )
     update customer set unreadable_party_since = coalesce(unreadable_party_since, $3)
     from assessed where assessed.customer_id = customer.customer_id and assessed.is_unreadable`,
    [runId, rosterId, importedAt],
  );
  await transaction.execute(
    `update customer set unreadable_party_since = null
     where roster_id = $2 and unreadable_party_since is not null
       and not exists (
         select from roster_party_staging party
         where party.run_id = $1 and party.reject_reason is not null
           and (party.reference is null or party.reference = customer.reference and party.reject_reason <> 'unknown_customer')
       )
       and (not $3 or exists (
         select from roster_party_staging party where party.run_id = $1 and party.reference = customer.reference
       ))`,
    [runId, rosterId, isDelta],
  );
}

/** SQL: the customers in scope of roster `rosterId` that cannot be screened, as `reference`, `customer_id` and `reason`. */
export const gapsSql = (rosterId: string): string => `
  select reference, null::bigint as customer_id, reason from unaccepted_customer where roster_id = ${rosterId}
  union all
  -- Contradicting rows give no party in the first slot.
  select reference, customer_id, 'conflicting_duplicate' from customer
  where roster_id = ${rosterId} and left_at is null
    and not exists (select from party where party.customer_id = customer.customer_id and party.ordinal = 0)
  union all
  select reference, customer_id, 'related_party_unreadable' from customer
  where roster_id = ${rosterId} and left_at is null and unreadable_party_since is not null
    and exists (select from party where party.customer_id = customer.customer_id and party.ordinal = 0)`;
