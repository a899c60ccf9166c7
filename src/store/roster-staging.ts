import { isBareCopyText, toCopyText } from './copy-text.js';
import type { Queryable, Transaction } from './database.js';
import type { StagedCustomer, StagedReject, StagedRelated } from './staged-row.js';

/** Between the fields of a row as they are kept in case another row contradicts it. */
export const fieldSeparator = '\u001f';

const customerColumns =
  'run_id, ordinal, line, file, reference, type, sent_name, parties, risk_tier, record, record_digest, leaves, raw';
const blockRows = 500;

/** Forgets what an earlier, broken-off import of this run had staged. */
export async function clearStaging(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('select clear_roster_staging($1)', [runId]);
}

/** Stages a chunk of a roster's rows. */
export async function stageRows(
  transaction: Transaction,
  runId: number,
  rows: readonly (StagedCustomer | StagedReject)[],
): Promise<void> {
  const customers = rows.filter((row) => row.kind === 'customer');
  if (customers.length > 0) {
    if (transaction.copyIn) {
      await transaction.copyIn(`copy roster_staging (${customerColumns}) from stdin`, toBlocks(runId, customers));
    } else await insertCustomers(transaction, runId, customers);
  }
  const rejects = rows.filter((row) => row.kind === 'rejected');
  if (rejects.length > 0) await insertRejects(transaction, 'roster_staging', runId, rejects);
}

/** Stages a chunk of rows of a source of related parties. */
export async function stageParties(
  transaction: Queryable,
  runId: number,
  rows: readonly (StagedRelated | StagedReject)[],
): Promise<void> {
  const related = rows.filter((row) => row.kind === 'party');
  if (related.length > 0) {
    await transaction.execute(
      `insert into roster_party_staging (run_id, ordinal, line, file, reference, party, fields)
       select $1, ordinal, line, file, reference, party, fields
       from json_to_recordset($2::text::json) as row (
         ordinal integer, line integer, file text, reference text, party jsonb, fields json
       )`,
      [runId, toJson(related)],
    );
  }
  const rejects = rows.filter((row) => row.kind === 'rejected');
  if (rejects.length > 0) await insertRejects(transaction, 'roster_party_staging', runId, rejects);
}

const toRaw = (fields: readonly string[]): string => {
  const raw = fields.join(fieldSeparator);
  let separators = 0;
  for (let at = raw.indexOf(fieldSeparator); at >= 0; at = raw.indexOf(fieldSeparator, at + 1)) separators += 1;
  // A field that holds the separator keeps its visible symbol.
  if (separators === fields.length - 1) return raw;
  return fields.map((field) => field.replaceAll(fieldSeparator, '\u241f')).join(fieldSeparator);
};

function toBlocks(runId: number, rows: readonly StagedCustomer[]): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let start = 0; start < rows.length; start += blockRows) {
    let text = '';
    for (const row of rows.slice(start, start + blockRows)) text += toLine(runId, row);
    blocks.push(Buffer.from(text));
  }
  return blocks;
}

function toLine(runId: number, row: StagedCustomer): string {
  const { reference, sentName, record } = row;
  const raw = toRaw(row.fields);
  // One look at all that the source has written, in place of one at each of it: hardly any row needs more.
  const isBare = isBareCopyText(`${reference}${sentName}${raw}`) && !record.includes('\\');
  const toText = isBare ? (text: string) => text : toCopyText;
  return `${runId}\t${row.ordinal}\t${row.line}\t${toCopyText(row.file)}\t${toText(reference)}\t${row.type}\t${toText(sentName)}\t${row.parties}\t${row.riskTier ?? '\\N'}\t${toText(record)}\t\\\\x${row.recordDigest}\t${row.leaves ?? '\\N'}\t${toText(raw)}\n`;
}

async function insertCustomers(transaction: Queryable, runId: number, rows: readonly StagedCustomer[]): Promise<void> {
  const staged = rows.map(({ fields, ...row }) => ({ ...row, raw: toRaw(fields) }));
  await transaction.execute(
    `insert into roster_staging (${customerColumns})
     select $1, ordinal, line, file, reference, type, "sentName", parties, "riskTier", record::jsonb,
       decode("recordDigest", 'hex'), leaves, raw
     from json_to_recordset($2::text::json) as row (
       ordinal integer, line integer, file text, reference text, type text, "sentName" text, parties smallint, "riskTier" text,
       record text, "recordDigest" text, leaves text, raw text
     )`,
    [runId, toJson(staged)],
  );
}

async function insertRejects(
  transaction: Queryable,
  table: 'roster_staging' | 'roster_party_staging',
  runId: number,
  rows: readonly StagedReject[],
): Promise<void> {
  await transaction.execute(
    `insert into ${table} (run_id, ordinal, line, file, reference, reject_reason, reject_column, value_class, fields)
     select $1, ordinal, line, file, reference, reason, "column", "valueClass", fields
     from json_to_recordset($2::text::json) as row (
       ordinal integer, line integer, file text, reference text, reason text, "column" text, "valueClass" text, fields json
     )`,
    [runId, toJson(rows)],
  );
}

/** Postgres stores no NUL in any text: it is kept as its visible symbol. */
export const withoutNul = (json: string): string =>
  json.includes('\\u0000') ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400') : json;

const toJson = (value: unknown): string => withoutNul(JSON.stringify(value));
