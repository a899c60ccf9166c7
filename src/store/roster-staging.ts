import { StoreError } from '../errors.js';
import { isBareCopyText, toCopyText } from './copy-text.js';
import type { Queryable, Transaction } from './database.js';
import type { StagedCustomer, StagedReject, StagedRelated } from './staged-row.js';

/** Between the fields of a row as they are kept in case another row contradicts it. */
export const fieldSeparator = '\u001f';

const customerColumns =
  'run_id, ordinal, line, file, reference, type, sent_name, parties, risk_tier, record, record_digest, leaves, raw';
/** In UTF-16 units. */
const blockLength = 64 * 1_024;

/** Forgets what an import of this run has staged. */
export async function clearStaging(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('select clear_roster_staging($1)', [runId]);
}

/** Begins to stage a run's import: forgets what an earlier, broken-off one had staged. */
export async function beginStaging(transaction: Queryable, runId: number): Promise<void> {
  await clearStaging(transaction, runId);
  await transaction.execute('insert into roster_stager (run_id) values ($1)', [runId]);
}

/** A chunk of a roster's rows on their way into staging. */
export class StagingChunk {
  readonly rejects: StagedReject[] = [];
  /** Where rows are not copied. */
  readonly customers: StagedCustomer[] = [];
  #rows = 0;
  #units = 0;
  #text = '';
  #blocks: Buffer[] = [];

  /**
   * `copies`: the rows go to a server in bulk. Then nothing but their bytes is kept: to move thousands of living rows out of the way of the
   * next ones takes longer than all else that is done to them.
   */
  constructor(
    readonly runId: number,
    readonly copies: boolean,
  ) {}

  get rows(): number {
    return this.#rows;
  }

  /** About how many UTF-16 units its rows hold. */
  get units(): number {
    return this.#units;
  }

  add(row: StagedCustomer | StagedReject): void {
    this.#rows += 1;
    this.#units += countUnits(row);
    if (row.kind === 'rejected') this.rejects.push(row);
    else if (this.copies) this.#write(row);
    else this.customers.push(row);
  }

  /** The customers in the text format of `copy`. */
  takeBlocks(): readonly Buffer[] {
    if (this.#text !== '') this.#blocks.push(Buffer.from(this.#text));
    this.#text = '';
    return this.#blocks;
  }

  #write(row: StagedCustomer): void {
    this.#text += toLine(this.runId, row);
    if (this.#text.length < blockLength) return;
    this.#blocks.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function countUnits(row: StagedCustomer | StagedReject): number {
  let units = 0;
  if (row.kind === 'rejected') for (const header in row.fields) units += row.fields[header]?.length ?? 0;
  else for (const field of row.fields) units += 2 * field.length;
  return units;
}

/** Stages a chunk of a roster's rows. */
export async function stageRows(transaction: Transaction, chunk: StagingChunk): Promise<void> {
  const { runId, customers, rejects } = chunk;
  const blocks = chunk.takeBlocks();
  if (blocks.length > 0) {
    if (!transaction.copyIn) throw new StoreError('database_value', 'rows cannot be copied into this database');
    await transaction.copyIn(`copy roster_staging (${customerColumns}) from stdin`, blocks);
  }
  if (customers.length > 0) await insertCustomers(transaction, runId, customers);
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
