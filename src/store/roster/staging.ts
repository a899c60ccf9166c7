import * as crypto from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { type Queryable, readRow } from '../database/database.js';
import { type Sql, sql, toJsonText } from '../database/statement.js';

const slottedPartySchema = z.object({
  role: z.string(),
  type: z.string(),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  sentName: z.string(),
  /** Of a related party: the source texts of facts in doubt, and of facts stored in another form. */
  doubts: z.record(z.string(), z.string()).optional(),
  said: z.record(z.string(), z.string()).optional(),
});

/** A party as a record holds it. */
export type SlottedParty = z.infer<typeof slottedPartySchema>;

/** A record: its parties by slot; a slot without a current party holds null. */
export const slottedRecordSchema = z.looseObject({
  riskTier: z.string().nullable(),
  /** The source texts of the customer's facts in doubt. */
  doubts: z.record(z.string(), z.string()).optional(),
  parties: z.array(slottedPartySchema.nullable()),
});

/** A customer's record. */
export type SlottedRecord = z.infer<typeof slottedRecordSchema>;

/** The run, roster and mode of a staged import. */
export interface StagedImport {
  runId: number;
  rosterId: number;
  /** A delta: customers that it does not show stay unchanged. */
  isDelta: boolean;
}

/** A row to be staged: an accepted one of the roster (`record`), one of a related party (`party`), or a rejected one (`reason`). */
export interface StagedRow {
  ordinal: number;
  line: number;
  file: string | null;
  /** Of a source of related parties. */
  isParty: boolean;
  reference: string | null;
  record?: object;
  /** 32 hexadecimal digits, equal for equal records only. */
  recordDigest?: string;
  /** Why the row itself offboards the customer. */
  leaves?: 'inactive' | 'end_date' | null;
  /** The source texts of an accepted row in the order of the headers. */
  texts?: readonly string[];
  party?: SlottedParty;
  reason?: string;
  column?: string | null;
  valueClass?: string | null;
  fields?: Readonly<Record<string, string>>;
}

const digestLength = 32;

/** Gives the first 32 hexadecimal digits of a text's SHA-256. */
export const digestRecord = (record: string): string => crypto.hash('sha256', record, 'hex').slice(0, digestLength);

/** Stages rows of a roster and of its related parties. */
export async function stageRows(transaction: Queryable, runId: number, rows: readonly StagedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await transaction.execute(sql`
    insert into roster_staging (
      run_id, ordinal, line, file, is_party, reference, record, record_digest, leaves, texts, party, reject_reason, reject_column,
      value_class, fields, is_plain
    )
    select ${runId}, ordinal, line, file, "isParty", reference, record, decode("recordDigest", 'hex'), leaves, texts, party, reason, "column",
      "valueClass", fields, record is not null
    from json_to_recordset(${toJsonText(rows)}::text::json) as row (
      ordinal integer, line integer, file text, "isParty" boolean, reference text, record jsonb, "recordDigest" text, leaves text,
      texts text[], party jsonb, reason text, "column" text, "valueClass" text, fields json
    )`);
}

/** Deletes the staged rows of a run, also those of its earlier, aborted import. */
export async function clearStaging(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`delete from roster_step where run_id = ${runId}`);
  await transaction.execute(sql`delete from roster_staging where run_id = ${runId}`);
}

const rejectionRow = z.object({
  line: z.number(),
  file: z.string().nullable(),
  reference: z.string().nullable(),
  column: z.string().nullable(),
  reason: z.string(),
  valueClass: z.string().nullable(),
});

/** The rejects of an import, related parties included: the number of rows by reason, and the first `limit` rows, related parties last. */
export async function readStagedRejections(transaction: Queryable, runId: number, limit: number) {
  const rejectedSql = sql`from roster_staging where run_id = ${runId} and reject_reason is not null`;
  const counted = await transaction.query(
    z.object({ reason: z.string(), count: z.number() }),
    sql`select reject_reason as reason, count(*)::integer as count ${rejectedSql} group by 1 order by 1`,
  );
  return {
    rejectedByReason: Object.fromEntries(counted.map(({ reason, count }) => [reason, count])),
    firstRejections: await transaction.query(
      rejectionRow,
      sql`select line, file, reference, reject_column as "column", reject_reason as reason, value_class
       ${rejectedSql} order by ordinal limit ${limit}`,
    ),
  };
}

/** Counts the staged rows and steps of a run. */
export async function countOnTheWay(transaction: Queryable, runId: number) {
  return readRow(
    transaction,
    z.object({ rows: z.number(), steps: z.number() }),
    sql`select (select count(*) from roster_staging where run_id = ${runId}) as rows,
       (select count(*) from roster_step where run_id = ${runId}) as steps`,
  );
}

/**
 * Throws StoreError `roster_not_whole` unless all staged rows are still present: unlogged tables are empty after the
 * server recovered from a crash, and a part of a roster must not pass for the whole.
 */
export function requireStaged(found: number, expected: number): void {
  if (found === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `only ${found} of ${expected} staged rows are present, so nothing of the roster was stored. The database may have restarted; start again`,
  );
}

/** SQL for the accepted rows of a run that are a whole customer. */
export const toPlainSql = (runId: number): Sql => sql`run_id = ${runId} and is_plain`;

/** Raises the memory for sorting and joining a large roster, for this transaction. */
export async function takeRoom(transaction: Queryable): Promise<void> {
  await transaction.execute("select set_config('work_mem', '256MB', true)");
}

/** Updates the statistics of the staged rows: without them, a newly filled table is joined row against row, and autovacuum is too late. */
export async function analyzeRows(transaction: Queryable): Promise<void> {
  await transaction.execute(
    'analyze roster_staging (run_id, ordinal, is_party, is_plain, reference, record_digest, leaves, reject_reason)',
  );
}
