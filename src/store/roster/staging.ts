import * as crypto from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { firstRow, type Queryable, type Transaction } from '../database/database.js';

interface StagedCustomer {
  kind: 'customer';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string;
  /** The request of the customer itself; null with the record. */
  type: string | null;
  sentName: string | null;
  /** The number of parties of the record. */
  parties: number;
  riskTier: string | null;
  /** The record as JSON; null for one that the roster has. */
  record: string | null;
  /** 32 hexadecimal digits, equal for equal records only. */
  recordDigest: string;
  /** Why the row itself offboards the customer. */
  leaves: 'inactive' | 'end_date' | null;
  /** The source texts in the order of the headers, joined by `fieldSeparator`; they contain neither separator. */
  raw: string;
}

interface StagedRelated {
  kind: 'party';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string;
  party: SlottedParty;
  fields: Readonly<Record<string, string>>;
}

interface StagedReject {
  kind: 'rejected';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string | null;
  reason: string;
  column: string | null;
  valueClass: string | null;
  fields: Readonly<Record<string, string>>;
}

/** In UTF-16 units. */
const blockLength = 64 * 1_024;

/** Collects lines of `copy` as bytes: the garbage collection of thousands of row objects takes longer than all other work on them. */
class CopyBlocks {
  #text = '';
  #blocks: Buffer[] = [];

  add(line: string): void {
    this.#text += line;
    if (this.#text.length >= blockLength) this.#close();
  }

  take(): readonly Buffer[] {
    if (this.#text !== '') this.#close();
    return this.#blocks;
  }

  #close(): void {
    this.#blocks.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

const special = /[\\\n\r\t\0]/;
const specials = /[\\\n\r\t\0]/g;

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  // Postgres stores no NUL in texts: its visible symbol replaces it.
  '\0': '\u2400',
};

function toCopyText(text: string | null): string {
  if (text === null) return '\\N';
  return special.test(text) ? text.replace(specials, (letter) => escapes[letter] ?? letter) : text;
}

/** Separates the fields of a stored source row. */
export const fieldSeparator = '\u001f';
/** Separates stored source rows. */
export const rowSeparator = '\u001e';

const rowColumns = 'run_id, ordinal, line, file, reference, type, sent_name, parties, record_digest, leaves';
const recordColumns = 'run_id, ordinal, risk_tier, record';
const rawColumns = 'rows, run_id, first_ordinal, last_ordinal';

/** Deletes the staged rows of a run. */
export async function clearStaging(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('select clear_roster_staging($1)', [runId]);
}

/** Begins the staging of a run: deletes the rows of an earlier, aborted one. */
export async function beginStaging(transaction: Queryable, runId: number): Promise<void> {
  await clearStaging(transaction, runId);
  await transaction.execute(`insert into roster_raw (${rawColumns}) values ('', $1, 0, 0)`, [runId]);
}

/** A chunk of a roster's rows to be staged. */
export class StagingChunk {
  readonly rejects: StagedReject[] = [];
  /** Filled only when rows are not copied. */
  readonly customers: StagedCustomer[] = [];
  readonly #rowBlocks = new CopyBlocks();
  readonly #recordBlocks = new CopyBlocks();
  readonly #rawBlocks = new CopyBlocks();
  #firstCustomer = 0;
  #lastCustomer = 0;
  #rows = 0;
  #units = 0;

  /** `copies`: rows are sent by `copy`, and only their bytes are kept. */
  constructor(
    readonly runId: number,
    readonly copies: boolean,
  ) {}

  get rows(): number {
    return this.#rows;
  }

  /** About the UTF-16 units of its rows: each customer as given and as a record, each rejected row as given and as JSON. */
  get units(): number {
    return this.#units;
  }

  add(row: StagedCustomer | StagedReject): void {
    this.#rows += 1;
    if (row.kind === 'rejected') {
      for (const header in row.fields) this.#units += 2 * (row.fields[header]?.length ?? 0);
      this.rejects.push(row);
      return;
    }
    this.#units += 2 * row.raw.length;
    if (this.copies) this.#copy(row);
    else this.customers.push(row);
  }

  /**
   * Stages the chunk. Bulk data use two concurrent transactions, because a server stores rows more slowly than they
   * are read. When it throws, both have ended.
   */
  async stage(write: (work: (transaction: Transaction) => Promise<void>) => Promise<void>): Promise<void> {
    const { runId, customers, rejects } = this;
    if (this.#lastCustomer > 0) {
      this.#rawBlocks.add(`\t${runId}\t${this.#firstCustomer}\t${this.#lastCustomer}\n`);
      this.#lastCustomer = 0;
    }
    // In the text format of `copy`: the rows, their source texts, and their records.
    const [rows, raw, records] = [this.#rowBlocks.take(), this.#rawBlocks.take(), this.#recordBlocks.take()];
    const working = [
      write(async (transaction) => {
        await copy(transaction, `roster_staging (${rowColumns})`, rows);
        await copy(transaction, `roster_raw (${rawColumns})`, raw);
        if (customers.length > 0) await insertCustomers(transaction, runId, customers);
        if (rejects.length > 0) await insertRejects(transaction, runId, rejects, false);
      }),
    ];
    if (records.length > 0) {
      working.push(write((transaction) => copy(transaction, `roster_record (${recordColumns})`, records)));
    }
    await Promise.allSettled(working);
    await Promise.all(working);
  }

  #copy(row: StagedCustomer): void {
    const { runId } = this;
    const { ordinal, line, file, reference, type, sentName, parties, riskTier, record, recordDigest, leaves } = row;
    if (this.#lastCustomer === 0) this.#firstCustomer = ordinal;
    this.#rawBlocks.add((this.#lastCustomer === 0 ? '' : rowSeparator) + toRaw(row, toCopyText));
    this.#lastCustomer = ordinal;
    this.#rowBlocks.add(
      `${runId}\t${ordinal}\t${line}\t${toCopyText(file)}\t${toCopyText(reference)}\t${type ?? '\\N'}\t${toCopyText(sentName)}\t${parties}\t\\\\x${recordDigest}\t${leaves ?? '\\N'}\n`,
    );
    if (record === null) return;
    // JSON holds no control character.
    const escaped = record.includes('\\') ? toCopyText(record) : record;
    this.#recordBlocks.add(`${runId}\t${ordinal}\t${riskTier ?? '\\N'}\t${escaped}\n`);
  }
}

async function copy(transaction: Transaction, table: string, blocks: readonly Buffer[]): Promise<void> {
  if (blocks.length === 0) return;
  if (!transaction.copyIn) throw new StoreError('database_value', 'rows cannot be copied into this database');
  await transaction.copyIn(`copy ${table} from stdin`, blocks);
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
      `insert into roster_staging (run_id, ordinal, line, file, reference, party, fields, is_plain, is_party)
       select $1, ordinal, line, file, reference, party, fields, false, true
       from json_to_recordset($2::text::json) as row (
         ordinal integer, line integer, file text, reference text, party jsonb, fields json
       )`,
      [runId, toJson(related)],
    );
  }
  const rejects = rows.filter((row) => row.kind === 'rejected');
  if (rejects.length > 0) await insertRejects(transaction, runId, rejects, true);
}

async function insertCustomers(transaction: Queryable, runId: number, rows: readonly StagedCustomer[]): Promise<void> {
  const staged = rows.map(({ raw: _, ...row }) => row);
  await transaction.execute(
    `with row as materialized (
       select * from json_to_recordset($2::text::json) as row (
         ordinal integer, line integer, file text, reference text, type text, "sentName" text, parties smallint, "riskTier" text,
         record text, "recordDigest" text, leaves text
       )
     ),
     records as (
       insert into roster_record (${recordColumns}) select $1, ordinal, "riskTier", record::jsonb from row where record is not null
     )
     insert into roster_staging (${rowColumns})
     select $1, ordinal, line, file, reference, type, "sentName", parties, decode("recordDigest", 'hex'), leaves from row`,
    [runId, toJson(staged)],
  );
  const raw = rows.map((row) => toRaw(row, (text) => text)).join(rowSeparator);
  await transaction.execute(`insert into roster_raw (${rawColumns}) values ($2, $1, $3, $4)`, [
    runId,
    raw,
    rows[0]?.ordinal ?? 0,
    rows.at(-1)?.ordinal ?? 0,
  ]);
}

/** The source texts of a row after its ordinal. */
const toRaw = ({ ordinal, raw }: StagedCustomer, toText: (text: string) => string): string =>
  `${ordinal}${fieldSeparator}${toText(raw)}`;

async function insertRejects(
  transaction: Queryable,
  runId: number,
  rows: readonly StagedReject[],
  isParty: boolean,
): Promise<void> {
  await transaction.execute(
    `insert into roster_staging
       (run_id, ordinal, line, file, reference, reject_reason, reject_column, value_class, fields, is_plain, is_party)
     select $1, ordinal, line, file, reference, reason, "column", "valueClass", fields, false, $3
     from json_to_recordset($2::text::json) as row (
       ordinal integer, line integer, file text, reference text, reason text, "column" text, "valueClass" text, fields json
     )`,
    [runId, toJson(rows), isParty],
  );
}

/** Postgres stores no NUL in texts: its visible symbol replaces it. */
export const withoutNul = (json: string): string =>
  json.includes('\\') && json.includes('\\u0000') ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400') : json;

/** A value as JSON for the database, without NUL. */
export const toJson = (value: unknown): string => withoutNul(JSON.stringify(value));

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
  const rejectedSql = 'from roster_staging where run_id = $1 and reject_reason is not null';
  const counted = await transaction.query(
    z.object({ reason: z.string(), count: z.number() }),
    `select reject_reason as reason, count(*)::integer as count ${rejectedSql} group by 1 order by 1`,
    [runId],
  );
  return {
    rejectedByReason: Object.fromEntries(counted.map(({ reason, count }) => [reason, count])),
    firstRejections: await transaction.query(
      rejectionRow,
      `select line, file, reference, reject_column as "column", reject_reason as reason, value_class
       ${rejectedSql} order by ordinal limit $2`,
      [runId, limit],
    ),
  };
}

const stagedRow = z.object({
  rows: z.number(),
  steps: z.number(),
});

/** Counts the staged rows and steps of a run. */
export async function countOnTheWay(transaction: Queryable, runId: number) {
  const rows = await transaction.query(
    stagedRow,
    `select (select count(*) from roster_staging where run_id = $1) as rows,
       (select count(*) from roster_step where run_id = $1) as steps`,
    [runId],
  );
  return firstRow(rows, 'roster_staging');
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

/** The error for a record that was taken for one that the roster has, and that the roster does not have. */
export const refuseUnstaged = (): StoreError =>
  new StoreError(
    'record_not_staged',
    'the roster lacks a record that it seemed to have, so nothing of the new roster was stored; run the same command again',
  );

/** The run, roster and mode of a staged import. */
export interface StagedImport {
  runId: number;
  rosterId: number;
  /** A delta: customers that it does not show stay unchanged. */
  isDelta: boolean;
}

/** SQL for the accepted rows of run $1 that are a whole customer. */
export const plainSql = 'run_id = $1 and is_plain';

/** Raises the memory for sorting and joining a large roster, and switches off JIT compilation of statements that run once, for this transaction. */
export async function takeRoom(transaction: Queryable): Promise<void> {
  await transaction.execute("select set_config('work_mem', '256MB', true), set_config('jit', 'off', true)");
}

// Without statistics, newly filled tables are joined row against row, and autovacuum is too late.

/** Updates the statistics of the staged records before they are joined. */
export async function analyzeRecords(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze roster_record (run_id, ordinal)');
}

/** Stages the records of rows that say what the roster has already, and are changed or put together with others nevertheless. `values` are $3 and so on. */
export function stageKnownRecords(
  transaction: Queryable,
  runId: number,
  rosterId: number,
  rowsSql: string,
  values: readonly unknown[] = [],
): Promise<number> {
  return transaction.execute(
    `insert into roster_record (run_id, ordinal, risk_tier, record)
     select $1, staged.ordinal, latest.risk_tier,
       jsonb_set(latest.record, '{parties}', jsonb_path_query_array(latest.record, '$.parties[*] ? (@ != null)'))
     from roster_staging staged
     join customer on customer.roster_id = $2 and customer.reference = staged.reference
       and customer.record_digest = staged.record_digest and customer.own_digest is null
     join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
     where staged.run_id = $1 and staged.type is null and ${rowsSql}
       and not exists (select from roster_record said where said.run_id = $1 and said.ordinal = staged.ordinal)`,
    [runId, rosterId, ...values],
  );
}

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

const digestLength = 32;

/** Gives the first 32 hexadecimal digits of a text's SHA-256. */
export const digestRecord = (record: string): string => crypto.hash('sha256', record, 'hex').slice(0, digestLength);
