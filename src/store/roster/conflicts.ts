import { z } from 'zod';
import { findRow, type Queryable, readValue, requireAll } from '../database/database.js';
import { json, rawSql, type Sql, sql } from '../database/statement.js';
import {
  analyzeRows,
  type SlottedRecord,
  type StagedImport,
  slottedRecordSchema,
  takeRoom,
  toPlainSql,
} from './staging.js';

const batchSize = 500;

/**
 * Assesses every staged row and stores the steps of the snapshot: new, changed, missing and returning customers. `resolve` builds a
 * customer from several rows; `refuse` creates the error for a customer with more than `mostParties` related parties.
 */
export async function resolveRows(
  transaction: Queryable,
  staged: StagedImport,
  mostParties: number,
  by: { resolve: (given: ImportConflict) => ResolvedConflict; refuse: (reference: string, parties: number) => Error },
): Promise<void> {
  const { runId } = staged;
  await takeRoom(transaction);
  await assessRows(transaction, staged);
  const tooMany = await findTooManyParties(transaction, runId, mostParties);
  if (tooMany !== null) throw by.refuse(tooMany.reference, tooMany.parties);
  await collectConflicts(transaction, staged);
  await collectRelated(transaction, staged);
  await addOwnRows(transaction, staged);
  await compareWithKnown(transaction, staged);
  for (let after = ''; ; ) {
    const conflicts = await readConflicts(transaction, staged, after);
    const last = conflicts.at(-1);
    if (last === undefined) break;
    await saveResolvedConflicts(transaction, runId, conflicts.map(by.resolve));
    after = last.reference;
  }
  await analyzeSteps(transaction);
}

/** Collects the customers with contradicting rows. */
async function collectConflicts(transaction: Queryable, { runId, isDelta }: StagedImport): Promise<void> {
  await transaction.execute(sql`
    insert into roster_step (run_id, reference, conflicts, keeps_related)
    select ${runId}, reference, jsonb_agg(parties order by ordinal), ${isDelta} or exists (
      -- A row that cannot be read may name related parties.
      select from roster_staging rejected
      where rejected.run_id = ${runId} and rejected.reference = conflicting.reference and rejected.reject_reason is not null
        and rejected.record is null and not rejected.is_party
    )
    from (
      select distinct on (reference, record_digest) reference, ordinal, record -> 'parties' as parties
      from roster_staging
      where run_id = ${runId} and reject_reason = 'conflicting_id'
      order by reference, record_digest, ordinal
    ) conflicting
    group by reference`);
}

/** Collects the customers with related parties in the snapshot, and those whose known related parties stay. */
async function collectRelated(transaction: Queryable, { runId, rosterId, isDelta }: StagedImport): Promise<void> {
  await transaction.execute(sql`
    insert into roster_step (run_id, reference, related, keeps_related)
    select ${runId}, reference, coalesce(jsonb_agg(distinct party) filter (where reject_reason is null), '[]'),
      bool_or(reject_reason is not null)
    from roster_staging related
    where run_id = ${runId} and is_party and reference is not null and reject_reason is distinct from 'unknown_customer'
      and (
        exists (
          select from roster_staging staged
          where staged.run_id = ${runId} and staged.reference = related.reference and staged.record is not null
        )
        or exists (
          select from customer
          where customer.roster_id = ${rosterId} and customer.reference = related.reference
            -- A delta changes related parties only of present customers.
            and (not ${isDelta} or customer.absent_since is null and customer.left_at is null)
        )
      )
    group by reference
    on conflict (run_id, reference) do update set related = excluded.related,
      keeps_related = roster_step.keeps_related or excluded.keeps_related`);
  // Customers of a delta keep related parties that the delta does not mention. So do all customers when a rejected row
  // of a related party names no customer, because it may concern any of them.
  if (!isDelta && !(await hasStrayParties(transaction, runId))) return;
  await transaction.execute(sql`update roster_step set keeps_related = true where run_id = ${runId}`);
  await transaction.execute(sql`
    insert into roster_step (run_id, reference, keeps_related)
    select ${runId}, staged.reference, true
    from customer join roster_staging staged on staged.reference = customer.reference
    where ${toPlainSql(runId)} and customer.roster_id = ${rosterId} and (
      customer.own_digest is not null
      -- A customer known only by contradicting rows has no own row yet.
      or exists (
        select from customer_version latest
        where latest.customer_id = customer.customer_id and latest.version = customer.version
          and jsonb_array_length(latest.record -> 'parties') > 1
      )
    )
    on conflict (run_id, reference) do nothing`);
}

function hasStrayParties(transaction: Queryable, runId: number): Promise<boolean> {
  return readValue(
    transaction,
    z.boolean(),
    sql`select exists (
       select from roster_staging
       where run_id = ${runId} and is_party and reject_reason <> 'not_a_customer' and (reference is null or reject_reason = 'unknown_customer')
     ) as found`,
  );
}

async function analyzeSteps(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze roster_step (run_id, kind, is_shown, reference, customer_id, ordinal)');
}

/** Adds the accepted row of each collected customer, which is then no longer a plain one. */
async function addOwnRows(transaction: Queryable, { runId, isDelta }: StagedImport): Promise<void> {
  await analyzeSteps(transaction);
  await transaction.execute(sql`
    update roster_step whole set record = staged.record, own_digest = staged.record_digest, leaves = staged.leaves
    from roster_staging staged
    where whole.run_id = ${runId} and staged.run_id = ${runId} and staged.reference = whole.reference
      and staged.reject_reason is null and not staged.is_repetition and not staged.is_party`);
  await transaction.execute(sql`
    update roster_step whole set is_shown = true
    where run_id = ${runId} and (${isDelta} or exists (
      select from roster_staging staged
      where staged.run_id = ${runId} and staged.reference = whole.reference and not staged.is_party
    ))`);
  await transaction.execute(sql`
    update roster_staging staged set is_plain = false
    where ${toPlainSql(runId)} and exists (
      select from roster_step whole where whole.run_id = ${runId} and whole.reference = staged.reference
    )`);
}

/** Stores the steps of the other customers. Unchanged ones get none: in a roster of a million that is nearly every one. */
async function compareWithKnown(transaction: Queryable, { runId, rosterId, isDelta }: StagedImport): Promise<void> {
  const hasNoStepSql = (reference: string): Sql =>
    sql`not exists (select from roster_step whole where whole.run_id = ${runId} and whole.reference = ${rawSql(reference)})`;
  await transaction.execute(sql`
    insert into roster_step (
      run_id, kind, is_shown, has_record, reference, customer_id, version, ordinal, leaves, record_digest, record
    )
    select ${runId}, compared.*, staged.record_digest, staged.record
    from (
      select
        case
          when known.customer_id is null then 'new'
          when shown.record_digest <> known.record_digest then 'changed'
          else 'same'
        end as kind,
        shown.reference is not null, shown.ordinal is not null, coalesce(known.reference, shown.reference), known.customer_id,
        known.version, shown.ordinal, shown.leaves
      from (
        select reference, ordinal, record_digest, leaves from roster_staging where ${toPlainSql(runId)}
        union all
        select distinct reference, null::integer, null::bytea, null
        from roster_staging rejected
        where run_id = ${runId} and reject_reason is not null and reference is not null and not is_party
          and ${hasNoStepSql('rejected.reference')}
          and not exists (
            select from roster_staging staged
            where staged.run_id = ${runId} and staged.reference = rejected.reference and staged.reject_reason is null and not staged.is_party
          )
      ) shown
      full join (select * from customer where roster_id = ${rosterId} and ${hasNoStepSql('customer.reference')}) known
        on known.reference = shown.reference
      where case
        when known.customer_id is null then shown.ordinal is not null
        when shown.reference is null then not ${isDelta} and known.left_at is null
        else coalesce(shown.record_digest <> known.record_digest, false) or known.absent_since is not null
          or (shown.leaves is null) = (known.left_at is not null)
      end
    ) compared
    left join roster_staging staged
      on staged.run_id = ${runId} and staged.ordinal = compared.ordinal and compared.kind in ('new', 'changed')`);
  await analyzeSteps(transaction);
  await makeSlotConflicts(transaction, runId);
}

/** A changed customer who has or had several parties needs a matching of party slots. */
async function makeSlotConflicts(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`
    update roster_step step set kind = null, own_digest = step.record_digest
    where step.run_id = ${runId} and step.kind = 'changed' and (
      jsonb_array_length(step.record -> 'parties') > 1
      or exists (
        select from customer_version former
        where former.customer_id = step.customer_id and jsonb_array_length(former.record -> 'parties') > 1
      )
    )`);
}

/** Marks repetitions, contradicting rows, and related parties of unknown customers. */
async function assessRows(transaction: Queryable, { runId, rosterId }: StagedImport): Promise<void> {
  await analyzeRows(transaction);
  await transaction.execute(sql`
    update roster_staging staged set
      is_plain = false, is_repetition = not assessed.is_conflict,
      reject_reason = case when assessed.is_conflict then 'conflicting_id' end
    from (
      select ordinal, place,
        min(digest) over (partition by reference) <> max(digest) over (partition by reference) as is_conflict
      from (
        select ordinal, reference, encode(record_digest, 'hex') as digest,
          row_number() over (partition by reference order by ordinal) as place
        from roster_staging
        where ${toPlainSql(runId)} and reference in (
          select reference from roster_staging where ${toPlainSql(runId)} group by reference having count(*) > 1
        )
      ) repeated
    ) assessed
    where staged.run_id = ${runId} and staged.ordinal = assessed.ordinal and (assessed.place > 1 or assessed.is_conflict)`);
  await assessBesideRejects(transaction, runId, rosterId);
  await transaction.execute(sql`
    update roster_staging related set reject_reason = 'unknown_customer'
    where run_id = ${runId} and is_party and reject_reason is null
      and not exists (
        select from roster_staging staged
        where staged.run_id = ${runId} and staged.reference = related.reference and staged.record is not null
      )
      and not exists (
        select from customer where customer.roster_id = ${rosterId} and customer.reference = related.reference
      )`);
}

/**
 * An accepted row counts as a contradiction when another row of its customer was rejected, because the rejected row is
 * unreadable. Exception: the accepted row equals the known record.
 */
async function assessBesideRejects(transaction: Queryable, runId: number, rosterId: number): Promise<void> {
  await transaction.execute(sql`
    update roster_staging staged set is_plain = false, reject_reason = 'conflicting_id'
    where ${toPlainSql(runId)}
      and reference in (
        select rejected.reference from roster_staging rejected
        where rejected.run_id = ${runId} and rejected.reject_reason is not null and rejected.record is null
          and rejected.reference is not null and not rejected.is_party
      )
      and not exists (
        select from customer known
        where known.roster_id = ${rosterId} and known.reference = staged.reference
          and coalesce(known.own_digest, known.record_digest) = staged.record_digest
      )`);
}

const slottedPartySchema = slottedRecordSchema.shape.parties.element.unwrap();

const conflictRow = z.object({
  reference: z.string(),
  ownRecord: slottedRecordSchema.nullable(),
  ownDigest: z.string().nullable(),
  leaves: z.enum(['inactive', 'end_date']).nullable(),
  conflicts: z.array(z.array(slottedPartySchema)),
  related: z.array(slottedPartySchema),
  keepsRelated: z.boolean(),
  isShown: z.boolean(),
  customerId: z.number().nullable(),
  version: z.number().nullable(),
  knownDigest: z.string().nullable(),
  knownOwnDigest: z.string().nullable(),
  knownRecord: slottedRecordSchema.nullable(),
  /** All former parties by slot. */
  slots: z.record(z.string(), slottedPartySchema).nullable(),
});

/** A customer of several rows: the data of the snapshot and the known record. */
export type ImportConflict = z.infer<typeof conflictRow>;

interface ResolvedConflict {
  kind: 'new' | 'changed' | 'same';
  isShown: boolean;
  hasRecord: boolean;
  reference: string;
  customerId: number | null;
  version: number | null;
  leaves: string | null;
  /** Null for an unchanged record. */
  record: SlottedRecord | null;
  recordDigest: string | null;
  ownDigest: string | null;
}

function readConflicts(transaction: Queryable, { runId, rosterId }: StagedImport, after: string) {
  return transaction.query(
    conflictRow,
    sql`select whole.reference, whole.record as "ownRecord", encode(whole.own_digest, 'hex') as "ownDigest",
       whole.leaves, coalesce(whole.conflicts, '[]') as conflicts, coalesce(whole.related, '[]') as related,
       coalesce(whole.keeps_related, false) as "keepsRelated", whole.is_shown,
       customer.customer_id, customer.version, encode(customer.record_digest, 'hex') as "knownDigest",
       encode(customer.own_digest, 'hex') as "knownOwnDigest", latest.record as "knownRecord", slotted.slots
     from roster_step whole
     left join customer on customer.roster_id = ${rosterId} and customer.reference = whole.reference
     left join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
     left join lateral (
       select jsonb_object_agg(place, facts) as slots
       from (
         select distinct on (place) place - 1 as place, facts
         from customer_version former
         cross join jsonb_array_elements(former.record -> 'parties') with ordinality as slot (facts, place)
         where former.customer_id = customer.customer_id and facts <> 'null'
         order by place, former.version desc
       ) newest
     ) slotted on true
     where whole.run_id = ${runId} and whole.kind is null and whole.reference > ${after}
     order by whole.reference
     limit ${batchSize}`,
  );
}

async function saveResolvedConflicts(transaction: Queryable, runId: number, resolved: readonly ResolvedConflict[]) {
  const saved = await transaction.execute(sql`
    update roster_step step set
      kind = row.kind, is_shown = "isShown", has_record = "hasRecord", customer_id = "customerId", version = row.version, ordinal = null,
      leaves = row.leaves, record = row.record, record_digest = decode("recordDigest", 'hex'), own_digest = decode("ownDigest", 'hex')
    from jsonb_to_recordset(${json(resolved)}) as row (
      kind text, "isShown" boolean, "hasRecord" boolean, reference text, "customerId" bigint, version integer, leaves text, record jsonb,
      "recordDigest" text, "ownDigest" text
    )
    where step.run_id = ${runId} and step.kind is null and step.reference = row.reference`);
  requireAll(saved, resolved.length, 'customers of several rows');
}

/** The customer with the most different related parties in a run, if there are more than `most`; null otherwise. */
function findTooManyParties(transaction: Queryable, runId: number, most: number) {
  return findRow(
    transaction,
    z.object({ reference: z.string(), parties: z.number() }),
    sql`select counted.reference, count(distinct staged.party)::integer as parties
     from (
       select reference from roster_staging
       where run_id = ${runId} and is_party and reject_reason is null group by reference having count(*) > ${most}
     ) counted
     join roster_staging staged on staged.run_id = ${runId} and staged.is_party and staged.reference = counted.reference
       and staged.reject_reason is null
     group by counted.reference having count(distinct staged.party) > ${most}
     order by parties desc, counted.reference limit 1`,
  );
}
