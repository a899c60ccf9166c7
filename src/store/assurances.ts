import { z } from 'zod';
import type { Queryable } from './database.js';
import { listFilesSchema, type StoredList } from './list-comparisons.js';
import { requireRows } from './require-all.js';

/** What recall is measured on and how; stored before the first search. */
export interface AssuranceFacts extends Omit<StoredList, 'spellings'> {
  seed: string;
  spelling: 'as_listed' | 'variants';
  sampleSize: number;
  /** The share that must be found, or null when none was asked for. */
  atLeast: number | null;
}

/** A listed name of a sample and as what it is sent. */
export interface AssuranceName {
  listedId: string | null;
  listedName: string;
  type: 'person' | 'entity';
  script: string;
  variant: string;
  sentName: string;
}

/** A name of a sample with what came of its search. */
export interface AssuranceItem extends AssuranceName {
  ordinal: number;
  outcome: 'remaining' | 'answered' | 'failed';
  outcomeReason: string | null;
  responseId: number | null;
  results: number;
  hits: number;
}

/** Keeps a measurement and its sample; `requestIds` are the requests of the names, in their order. */
export async function insertAssurance(
  transaction: Queryable,
  runId: number,
  facts: AssuranceFacts,
  names: readonly AssuranceName[],
  requestIds: readonly number[],
): Promise<void> {
  await transaction.execute(
    `insert into assurance (run_id, file, format, files, digest, listed, seed, spelling, sample_size, at_least)
     values ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8, $9, $10)`,
    [
      runId,
      facts.file,
      facts.format,
      JSON.stringify(facts.files),
      facts.digest,
      facts.listed,
      facts.seed,
      facts.spelling,
      facts.sampleSize,
      facts.atLeast,
    ],
  );
  const items = names.map((name, at) => ({ ...name, ordinal: at + 1, requestId: requestIds[at] }));
  const saved = await transaction.execute(
    `insert into assurance_item (run_id, ordinal, request_id, listed_id, listed_name, type, script, variant, sent_name, outcome)
     select $1, ordinal, "requestId", "listedId", "listedName", type, script, variant, "sentName", 'remaining'
     from jsonb_to_recordset($2::text::jsonb) as row (
       ordinal integer, "requestId" bigint, "listedId" text, "listedName" text, type text, script text, variant text, "sentName" text
     )`,
    [runId, JSON.stringify(items)],
  );
  requireRows(saved, items.length, 'assurance_item');
}

/** Notes which share of a sample must be found, or null for none. */
export async function setLeastShare(transaction: Queryable, runId: number, atLeast: number | null): Promise<void> {
  await transaction.execute('update assurance set at_least = $2 where run_id = $1', [runId, atLeast]);
}

/** Keeps what came of the search for one name. */
export async function saveAssuranceItem(
  transaction: Queryable,
  runId: number,
  ordinal: number,
  end: { responseId: number } | { failedBecause: string },
  answeredAt: Date,
): Promise<void> {
  const [outcome, responseId, reason] =
    'responseId' in end ? ['answered', end.responseId, null] : ['failed', null, end.failedBecause];
  const saved = await transaction.execute(
    `update assurance_item set outcome = $3, response_id = $4, outcome_reason = $5, answered_at = $6
     where run_id = $1 and ordinal = $2`,
    [runId, ordinal, outcome, responseId, reason, answeredAt],
  );
  requireRows(saved, 1, 'assurance_item');
}

const factsRow: z.ZodType<AssuranceFacts> = z.object({
  file: z.string(),
  format: z.string(),
  files: listFilesSchema,
  digest: z.string(),
  listed: z.number(),
  seed: z.string(),
  spelling: z.enum(['as_listed', 'variants']),
  sampleSize: z.number(),
  atLeast: z.number().nullable(),
});

/** What a run measures, or null when it is no measurement. */
export async function readAssurance(database: Queryable, runId: number): Promise<AssuranceFacts | null> {
  const [row] = await database.query(
    factsRow,
    `select file, format, files, digest, listed, seed, spelling, sample_size as "sampleSize", at_least as "atLeast"
     from assurance where run_id = $1`,
    [runId],
  );
  return row ?? null;
}

const itemRow: z.ZodType<AssuranceItem> = z.object({
  ordinal: z.number(),
  listedId: z.string().nullable(),
  listedName: z.string(),
  type: z.enum(['person', 'entity']),
  script: z.string(),
  variant: z.string(),
  sentName: z.string(),
  outcome: z.enum(['remaining', 'answered', 'failed']),
  outcomeReason: z.string().nullable(),
  responseId: z.number().nullable(),
  results: z.number(),
  hits: z.number(),
});

/** The sample of a measurement, in its order. */
export async function readAssuranceItems(database: Queryable, runId: number): Promise<readonly AssuranceItem[]> {
  return database.query(
    itemRow,
    `select item.ordinal, item.listed_id as "listedId", item.listed_name as "listedName", item.type, item.script, item.variant,
       item.sent_name as "sentName", item.outcome, item.outcome_reason as "outcomeReason", item.response_id as "responseId",
       coalesce(response.total, 0) as results,
       (select count(*) from match where match.response_id = item.response_id and match.is_hit) as hits
     from assurance_item item
     left join response using (response_id)
     where item.run_id = $1
     order by item.ordinal`,
    [runId],
  );
}
