import { z } from 'zod';
import type { RunKind } from '../reports/run-facts.js';
import type { Queryable } from './database.js';

/** A published list as it was read. */
export interface StoredList {
  file: string;
  format: string;
  /** Every file that was read, with the SHA-256 (hex) of its bytes. */
  files: readonly { file: string; sha256: string }[];
  digest: string;
  /** Entries of the list, and their names and aliases together. */
  listed: number;
  spellings: number;
}

/** What comparing a list with the customers of a run came to. */
export interface ComparisonSums {
  comparedParties: number;
  forcedParties: number;
  forcedCustomers: number;
}

/** The list because of which a run asks; `comparedAt` is null until every customer has been compared with it. */
export interface ListComparison extends StoredList, ComparisonSums {
  comparedAt: Date | null;
}

/** A customer whose search a list has forced. */
export interface ForcedCustomer {
  reference: string;
  because: string;
}

/** Notes because of which list a run asks, before its customers are compared with it. */
export async function noteList(transaction: Queryable, runId: number, list: StoredList): Promise<void> {
  await transaction.execute(
    `insert into list_comparison (run_id, file, format, files, digest, listed, spellings)
     values ($1, $2, $3, $4::text::jsonb, $5, $6, $7)
     on conflict (run_id) do nothing`,
    [runId, list.file, list.format, JSON.stringify(list.files), list.digest, list.listed, list.spellings],
  );
}

/** Keeps what the comparison with a run's list came to. */
export async function finishComparison(
  transaction: Queryable,
  runId: number,
  sums: ComparisonSums,
  comparedAt: Date,
): Promise<void> {
  await transaction.execute(
    `update list_comparison set compared_parties = $2, forced_parties = $3, forced_customers = $4, compared_at = $5
     where run_id = $1`,
    [runId, sums.comparedParties, sums.forcedParties, sums.forcedCustomers, comparedAt],
  );
}

/** The shape of the files of a list in a row. */
export const listFilesSchema = z.array(z.object({ file: z.string(), sha256: z.string() }));

const comparisonRow: z.ZodType<ListComparison> = z.object({
  file: z.string(),
  format: z.string(),
  files: listFilesSchema,
  digest: z.string(),
  listed: z.number(),
  spellings: z.number(),
  comparedParties: z.number(),
  forcedParties: z.number(),
  forcedCustomers: z.number(),
  comparedAt: z.date().nullable(),
});

/** The list because of which a run asked, or null when there was none. */
export async function readListComparison(database: Queryable, runId: number): Promise<ListComparison | null> {
  const [row] = await database.query(
    comparisonRow,
    `select file, format, files, digest, listed, spellings, compared_parties as "comparedParties",
       forced_parties as "forcedParties", forced_customers as "forcedCustomers", compared_at as "comparedAt"
     from list_comparison where run_id = $1`,
    [runId],
  );
  return row ?? null;
}

/** A list with which a run was to compare the customers, and did not. */
export interface UncomparedList {
  file: string;
  /** The run that was given up. */
  runId: number;
  kind: RunKind;
  startedAt: Date;
}

const uncomparedRow: z.ZodType<UncomparedList> = z.object({
  file: z.string(),
  runId: z.number(),
  kind: z.enum(['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile']),
  startedAt: z.date(),
});

/**
 * The lists that earlier runs of the roster were given up with before they had compared them with the customers, as far as no run has
 * compared them since, and somebody in this run's plan has not been asked about since.
 */
export async function findUncomparedLists(database: Queryable, runId: number): Promise<readonly UncomparedList[]> {
  return database.query(
    uncomparedRow,
    `select noted.file, earlier.run_id as "runId", earlier.kind, earlier.started_at as "startedAt"
     from run ours
     join run earlier on earlier.roster_id = ours.roster_id and earlier.mode = ours.mode and earlier.run_id < ours.run_id
       and earlier.state = 'abandoned'
     join list_comparison noted on noted.run_id = earlier.run_id and noted.compared_at is null
     where ours.run_id = $1
       and not exists (
         select from list_comparison compared join run later on later.run_id = compared.run_id
         where later.roster_id = ours.roster_id and later.mode = ours.mode and later.run_id > earlier.run_id
           and compared.digest = noted.digest and compared.compared_at is not null
       )
       and exists (
         select from screening
         left join party_state state on state.account_id = ours.account_id and state.party_id = screening.party_id
         where screening.run_id = ours.run_id and coalesce(state.screened_at < earlier.started_at, true)
       )
     order by earlier.run_id`,
    [runId],
  );
}

/** The first so many customers whom a run was forced to ask about, and why. */
export async function readForcedCustomers(
  database: Queryable,
  runId: number,
  limit: number,
): Promise<readonly ForcedCustomer[]> {
  return database.query(
    z.object({ reference: z.string(), because: z.string() }),
    `select customer.reference, min(forced.because collate "C") as because
     from forced_screening forced
     join party using (party_id)
     join customer using (customer_id)
     where forced.run_id = $1
     group by customer.reference
     order by customer.reference collate "C"
     limit $2`,
    [runId, limit],
  );
}
