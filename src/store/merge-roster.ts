import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What a snapshot came to; rows = customers + rejected + duplicates. */
export interface ImportCounts {
  importId: number;
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** Known customers that the snapshot does not show. */
  absent: number;
}

/** Whose snapshot it is and where it came from. */
export interface ImportOrigin {
  runId: number;
  rosterId: number;
  organisationId: number;
  source: string;
  sourceDigest: string;
  importedAt: Date;
}

const countsRow = z.object({ rows: z.number(), rejected: z.number(), customers: z.number() });

/** Rejects as records all rows of an id that stands for different records; identical repetitions are left to be counted as duplicates. */
async function rejectConflicts(transaction: Queryable, runId: number): Promise<void> {
  await analyze(transaction, 'roster_staging');
  await transaction.execute(
    `update roster_staging set reject_reason = 'conflicting_id'
     where run_id = $1 and reject_reason is null and reference in (
       select reference from roster_staging
       where run_id = $1 and reject_reason is null
       group by reference having count(distinct record_digest) > 1
     )`,
    [runId],
  );
}

/** Counts what is staged, conflicts decided. */
export async function countStaged(
  transaction: Queryable,
  runId: number,
): Promise<{ rows: number; customers: number; rejected: number; duplicates: number }> {
  await rejectConflicts(transaction, runId);
  const rows = await transaction.query(
    countsRow,
    `select count(*)::integer as rows,
       count(reject_reason)::integer as rejected,
       count(distinct reference) filter (where reject_reason is null)::integer as customers
     from roster_staging where run_id = $1`,
    [runId],
  );
  const { rows: all, rejected, customers } = firstRow(rows, 'roster_staging');
  return { rows: all, customers, rejected, duplicates: all - rejected - customers };
}

/**
 * Turns what is staged into the roster's snapshot, inside one transaction: new customers, new versions of changed ones, their
 * parties and requests, absence, rejects. A rejected row whose id is known keeps the last accepted record in scope.
 */
export async function mergeStaged(
  transaction: Queryable,
  origin: ImportOrigin,
  staged: { rows: number; customers: number; rejected: number; duplicates: number },
): Promise<ImportCounts> {
  const importId = await insertImport(transaction, origin, staged);
  await saveRejects(transaction, origin.runId, importId);
  await saveRequests(transaction, origin);
  await saveCustomers(transaction, origin, importId);
  await analyze(transaction, 'screening_request, customer, customer_version');
  await saveParties(transaction, origin.rosterId, importId);
  await analyze(transaction, 'party');
  const absent = await markAbsence(transaction, origin, importId);
  await transaction.execute('update roster_import set absent = $2 where import_id = $1', [importId, absent]);
  await transaction.execute('delete from roster_staging where run_id = $1', [origin.runId]);
  return { importId, ...staged, absent };
}

async function insertImport(
  transaction: Queryable,
  origin: ImportOrigin,
  staged: { rows: number; customers: number; rejected: number; duplicates: number },
): Promise<number> {
  const rows = await transaction.query(
    z.object({ import_id: z.number() }),
    `insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)
     returning import_id`,
    [
      origin.runId,
      origin.rosterId,
      origin.source,
      origin.sourceDigest,
      origin.importedAt,
      staged.rows,
      staged.customers,
      staged.rejected,
      staged.duplicates,
    ],
  );
  return firstRow(rows, 'roster_import').import_id;
}

async function saveRejects(transaction: Queryable, runId: number, importId: number): Promise<void> {
  await transaction.execute(
    `insert into roster_reject (import_id, ordinal, line, column_name, reason, reference, fields)
     select $2, ordinal, line, reject_column, reject_reason, reference, coalesce(fields, '{}'::json)
     from roster_staging where run_id = $1 and reject_reason is not null`,
    [runId, importId],
  );
}

async function saveRequests(transaction: Queryable, origin: ImportOrigin): Promise<void> {
  await transaction.execute(
    `insert into screening_request (organisation_id, type, name)
     select distinct $2::bigint, party ->> 'type', party ->> 'sentName'
     from roster_staging, jsonb_array_elements(record -> 'parties') as party
     where run_id = $1 and reject_reason is null
     on conflict (organisation_id, type, name) do nothing`,
    [origin.runId, origin.organisationId],
  );
}

async function saveCustomers(transaction: Queryable, origin: ImportOrigin, importId: number): Promise<void> {
  await transaction.execute(
    `insert into customer (roster_id, reference, version, record_digest, first_import_id, last_import_id)
     select distinct on (reference) $2::bigint, reference, 1, record_digest, $3::bigint, $3::bigint
     from roster_staging where run_id = $1 and reject_reason is null
     order by reference, ordinal
     on conflict (roster_id, reference) do update set
       version = customer.version + (customer.record_digest <> excluded.record_digest)::integer,
       record_digest = excluded.record_digest,
       last_import_id = excluded.last_import_id,
       absent_since = null`,
    [origin.runId, origin.rosterId, importId],
  );
  await transaction.execute(
    `insert into customer_version (customer_id, version, import_id, risk_tier, record)
     select distinct on (customer.customer_id)
       customer.customer_id, customer.version, $3::bigint, staged.record ->> 'riskTier', staged.record
     from roster_staging staged
     join customer on customer.roster_id = $2 and customer.reference = staged.reference
     where staged.run_id = $1 and staged.reject_reason is null
     order by customer.customer_id, staged.ordinal
     on conflict (customer_id, version) do nothing`,
    [origin.runId, origin.rosterId, importId],
  );
}

/** Tables that have just grown from nothing must be counted, or they are joined row against row; the embedded database never does so by itself. */
async function analyze(transaction: Queryable, tables: string): Promise<void> {
  await transaction.execute(`analyze ${tables}`);
}

async function saveParties(transaction: Queryable, rosterId: number, importId: number): Promise<void> {
  await transaction.execute(
    `insert into party (customer_id, ordinal, request_id, is_current)
     select version.customer_id, (party.ordinality - 1)::smallint, request.request_id, true
     from customer_version version
     cross join jsonb_array_elements(version.record -> 'parties') with ordinality as party (facts, ordinality)
     join roster on roster.roster_id = $1
     join screening_request request on request.organisation_id = roster.organisation_id
       and request.type = party.facts ->> 'type' and request.name = party.facts ->> 'sentName'
     where version.import_id = $2
     on conflict (customer_id, ordinal) do update set request_id = excluded.request_id, is_current = true`,
    [rosterId, importId],
  );
  await transaction.execute(
    `update party set is_current = false
     from customer_version version
     where version.import_id = $1 and party.customer_id = version.customer_id
       and party.ordinal >= jsonb_array_length(version.record -> 'parties')`,
    [importId],
  );
}

async function markAbsence(transaction: Queryable, origin: ImportOrigin, importId: number): Promise<number> {
  await transaction.execute(
    `update customer set last_import_id = $3, absent_since = null
     where roster_id = $2 and reference in (
       select reference from roster_staging where run_id = $1 and reject_reason is not null and reference is not null
     )`,
    [origin.runId, origin.rosterId, importId],
  );
  await transaction.execute(
    `update customer set absent_since = $3 where roster_id = $1 and last_import_id <> $2 and absent_since is null`,
    [origin.rosterId, importId, origin.importedAt],
  );
  const rows = await transaction.query(
    z.object({ absent: z.number() }),
    `select count(*)::integer as absent from customer where roster_id = $1 and last_import_id <> $2`,
    [origin.rosterId, importId],
  );
  return firstRow(rows, 'customer').absent;
}

/** Whether the organisation's roster of this name was ever imported. */
export async function hasImport(database: Queryable, organisationId: number, roster: string): Promise<boolean> {
  const rows = await database.query(
    z.object({ found: z.boolean() }),
    `select exists (
       select from roster_import join roster using (roster_id) where organisation_id = $1 and roster.name = $2
     ) as found`,
    [organisationId, roster],
  );
  return firstRow(rows, 'roster_import').found;
}

/** From where, with which digest and how many rows a run imported its roster, or null when it has not. */
export async function readImportOrigin(
  database: Queryable,
  runId: number,
): Promise<{ source: string; digest: string; rows: number; rejected: number } | null> {
  const rows = await database.query(
    z.object({ source: z.string(), digest: z.string(), rows: z.number(), rejected: z.number() }),
    `select source, source_digest as digest, rows, rejected from roster_import
     where run_id = $1 order by import_id desc limit 1`,
    [runId],
  );
  return rows[0] ?? null;
}
