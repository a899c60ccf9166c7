import type { Queryable } from './database.js';

/** A row of an import on its way: either a record with its digest, or a reason why it is none. */
export type StagedRow =
  | {
      ordinal: number;
      line: number;
      kind: 'customer';
      reference: string;
      record: StagedRecord;
      recordDigest: string;
      fields: null;
    }
  | {
      ordinal: number;
      line: number;
      kind: 'rejected';
      reference: string | null;
      reason: string;
      column: string | null;
      fields: Readonly<Record<string, string>>;
    };

/** A customer's record as stored with each version. */
export interface StagedRecord {
  riskTier: string | null;
  parties: readonly {
    role: string;
    type: string;
    name: string;
    birthDate: string | null;
    countries: readonly string[];
    /** The name as it is sent. */
    sentName: string;
  }[];
}

/** Forgets what an earlier, broken-off import of this run had staged. */
export async function clearStaging(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('delete from roster_staging where run_id = $1', [runId]);
}

/** Stages a chunk of rows. */
export async function stageRows(transaction: Queryable, runId: number, rows: readonly StagedRow[]): Promise<void> {
  const chunk = rows.map((row) => ({
    ordinal: row.ordinal,
    line: row.line,
    reference: row.reference,
    record: row.kind === 'customer' ? row.record : null,
    record_digest: row.kind === 'customer' ? row.recordDigest : null,
    reject_reason: row.kind === 'rejected' ? row.reason : null,
    reject_column: row.kind === 'rejected' ? row.column : null,
    fields: row.kind === 'rejected' ? row.fields : null,
  }));
  // Postgres stores no NUL in any text: it is kept as its visible symbol.
  const json = JSON.stringify(chunk).replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400');
  await transaction.execute(
    `insert into roster_staging (run_id, ordinal, line, reference, record, record_digest, reject_reason, reject_column, fields)
     select $1, ordinal, line, reference, record, record_digest, reject_reason, reject_column, fields
     from json_to_recordset($2::text::json) as row (
       ordinal integer, line integer, reference text, record jsonb, record_digest text,
       reject_reason text, reject_column text, fields json
     )`,
    [runId, json],
  );
}
