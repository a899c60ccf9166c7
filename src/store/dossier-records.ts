import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** A record that a sweep may look up: a dossier, or an applicant or a decision that the dossier names. */
export interface DossierRecordId {
  dossierId: string;
  kind: 'dossier' | 'entity' | 'decision';
  id: string;
}

// A dossier is due when a sweep has changed it since it was asked for; a named record as soon as its dossier was fetched.
const toAskSql = `
  select dossier.dossier_id, named.kind, named.record_id, dossier.changed_by_run_id
  from dossier_record named
  join dossier on dossier.account_id = named.account_id and dossier.dossier_id = named.dossier_id and dossier.gone_at is null
  where named.account_id = $1 and named.run_id is null
  union all
  select dossier.dossier_id, 'dossier', dossier.dossier_id, dossier.changed_by_run_id
  from dossier
  left join dossier_record asked on asked.account_id = dossier.account_id and asked.dossier_id = dossier.dossier_id
    and asked.kind = 'dossier'
  where dossier.account_id = $1 and dossier.gone_at is null
    and (asked.run_id is null or asked.run_id < dossier.changed_by_run_id)`;

/** The records that are to be asked for: those of the dossiers that changed last first. */
export function listRecordsToAsk(
  database: Queryable,
  accountId: number,
  limit: number,
): Promise<readonly DossierRecordId[]> {
  return database.query(
    z.object({ dossierId: z.string(), kind: z.enum(['dossier', 'entity', 'decision']), id: z.string() }),
    `select dossier_id as "dossierId", kind, record_id as id from (${toAskSql}) as due
     order by changed_by_run_id desc, kind = 'dossier', dossier_id, record_id limit $2`,
    [accountId, limit],
  );
}

/** How many records are to be asked for. */
export async function countRecordsToAsk(database: Queryable, accountId: number): Promise<number> {
  const rows = await database.query(
    z.object({ count: z.number() }),
    `select count(*)::integer as count from (${toAskSql}) as due`,
    [accountId],
  );
  return firstRow(rows, 'dossier_record').count;
}

/** How many records a sweep has asked for, and how many of them came. */
export async function countAskedRecords(database: Queryable, runId: number): Promise<{ asked: number; kept: number }> {
  const rows = await database.query(
    z.object({ asked: z.number(), kept: z.number() }),
    `select count(*)::integer as asked, (count(*) filter (where reason is null))::integer as kept
     from dossier_record where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'dossier_record');
}

/** Who asked for a record, and when. */
export interface RecordAsked extends DossierRecordId {
  accountId: number;
  runId: number;
  askedAt: Date;
}

/** Notes that a record could not be had; what is known of it stays. */
export async function saveMissingRecord(
  transaction: Queryable,
  { accountId, dossierId, kind, id, runId, askedAt }: RecordAsked,
  reason: string,
): Promise<void> {
  await transaction.execute(
    `insert into dossier_record (account_id, dossier_id, kind, record_id, run_id, asked_at, reason)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, dossier_id, kind, record_id) do update set
       run_id = excluded.run_id, asked_at = excluded.asked_at, reason = excluded.reason`,
    [accountId, dossierId, kind, id, runId, askedAt, reason],
  );
}

/** A record as it is kept. */
export interface DossierRecord {
  /** The list's `updated_at` of its dossier. */
  dossierUpdatedAt: string | null;
  body: string;
  withheldLinks: number;
  /** Of an entity; otherwise null. */
  name: string | null;
  birthDate: string | null;
  country: string | null;
}

/** Saves a record in the place of the one that came before. */
export async function saveDossierRecord(
  transaction: Queryable,
  { accountId, dossierId, kind, id, runId, askedAt }: RecordAsked,
  { dossierUpdatedAt, body, withheldLinks, name, birthDate, country }: DossierRecord,
): Promise<void> {
  await transaction.execute(
    `insert into dossier_record (
       account_id, dossier_id, kind, record_id, run_id, asked_at, fetched_at, dossier_updated_at, body, withheld_links, name,
       birth_date, country
     )
     values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account_id, dossier_id, kind, record_id) do update set
       run_id = excluded.run_id, asked_at = excluded.asked_at, reason = null, fetched_at = excluded.fetched_at,
       dossier_updated_at = excluded.dossier_updated_at, body = excluded.body, withheld_links = excluded.withheld_links,
       name = excluded.name, birth_date = excluded.birth_date, country = excluded.country`,
    [accountId, dossierId, kind, id, runId, askedAt, dossierUpdatedAt, body, withheldLinks, name, birthDate, country],
  );
}

/** Makes the applicants and decisions that a dossier names due, and forgets those that it names no longer. */
export async function saveNamedRecords(
  transaction: Queryable,
  accountId: number,
  dossierId: string,
  named: readonly DossierRecordId[],
): Promise<void> {
  const ids = named.map(({ id }) => id);
  await transaction.execute(
    `delete from dossier_record
     where account_id = $1 and dossier_id = $2 and kind <> 'dossier' and record_id <> all ($3::text[])`,
    [accountId, dossierId, ids],
  );
  await transaction.execute(
    `insert into dossier_record (account_id, dossier_id, kind, record_id)
     select $1, $2, kind, record_id from unnest($3::text[], $4::text[]) as row (kind, record_id)
     on conflict (account_id, dossier_id, kind, record_id) do update set run_id = null, asked_at = null`,
    [accountId, dossierId, named.map(({ kind }) => kind), ids],
  );
}
