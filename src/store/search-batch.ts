import { z } from 'zod';
import { partyTypes } from '../vocabulary.js';
import { findRow, type Queryable, readValue, requireRows } from './database/database.js';
import type { SearchAttempts } from './ledger.js';

/** What a batch keeps of the one call of a search that was answered at once. */
interface PackedCall {
  attemptId: number;
  startedMs: number;
  tookMs: number;
  serviceRequestId: string | null;
}

/** Calls of one batch, by request; all other calls are stored as rows of their own. */
export type PackedCalls = ReadonlyMap<number, PackedCall>;

// Three numbers share 63 bits. Times of up to 4.6 hours fit, and calls of 32,768 numbers.
const mostMs = 2 ** 24 - 1;
const mostCalls = 2 ** 15;
const mostOffset = 2 ** 31 - 1;

const isInRange = (value: number, most: number): boolean => Number.isInteger(value) && value >= 0 && value <= most;

/** Finds the calls that a batch can keep packed: the only one of its search, answered with 201, of usual duration. */
export function packCalls(searches: readonly SearchAttempts[], now: Date): PackedCalls {
  const packed = new Map<number, PackedCall>();
  let lowest: number | undefined;
  for (const { requestId, attempts, unsentIds } of searches) {
    const [only, ...others] = attempts;
    if (only === undefined || others.length > 0 || unsentIds.length > 0) continue;
    if (only.outcome !== 'ok' || only.status !== 201 || packed.has(requestId)) continue;
    const { attemptId, serviceRequestId } = only;
    const startedMs = now.getTime() - only.startedAt.getTime();
    const tookMs = only.endedAt.getTime() - only.startedAt.getTime();
    lowest ??= attemptId;
    // Room for calls with lower numbers: most end in the order of their start.
    const isNear = Math.abs(attemptId - lowest) < mostCalls / 2;
    if (isInRange(startedMs, mostMs) && isInRange(tookMs, mostMs) && isNear) {
      packed.set(requestId, { attemptId, startedMs, tookMs, serviceRequestId });
    }
  }
  return packed;
}

/** Whether a batch is stored, when the answer to its commit was lost. */
export function isBatchSaved(transaction: Queryable, runId: number, batchId: number): Promise<boolean> {
  return readValue(
    transaction,
    z.boolean(),
    'select exists (select from search_batch where run_id = $1 and batch_id = $2) as saved',
    [runId, batchId],
  );
}

/** Stores what one transaction saves: the searches that were answered, and their usual calls. */
export async function insertBatch(
  transaction: Queryable,
  { runId, batchId, now }: { runId: number; batchId: number; now: Date },
  requestIds: readonly number[] = [],
  packed: PackedCalls = new Map(),
): Promise<void> {
  const [requestBase, offsets, wide] = toOffsets(requestIds);
  const calls = requestIds.map((requestId) => packed.get(requestId));
  const callBase = lowestOf(calls.flatMap((call) => call?.attemptId ?? []));
  const saved = await transaction.execute(
    `insert into search_batch (
       run_id, batch_id, committed_at, request_base, requests, wide_requests, call_base, calls, service_prefix, service_ids,
       service_texts
     )
     values ($1, $2, $3, $4, $5::text::integer[], $6::text::bigint[], $7, $8::text::bigint[], $9, $10::text::uuid[], $11::text::text[])`,
    [
      runId,
      batchId,
      now,
      requestBase,
      offsets,
      wide,
      callBase === null ? null : callBase % 2 ** 32,
      toArray(calls.map((call) => (call ? packNumbers(call, callBase ?? 0) : null))),
      ...toServiceIds(calls.map((call) => call?.serviceRequestId ?? null)),
    ],
  );
  requireRows(saved, 1, 'search_batch');
}

const lowestOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((lowest, value) => Math.min(lowest, value));

/** Numbers as offsets from the lowest, or whole where one of them is too far away. */
function toOffsets(values: readonly number[]): readonly [number | null, string | null, string | null] {
  const base = lowestOf(values);
  if (base === null) return [null, null, null];
  return values.some((value) => value - base > mostOffset)
    ? [null, null, toArray(values)]
    : [base, toArray(values.map((value) => value - base)), null];
}

const packNumbers = ({ attemptId, startedMs, tookMs }: PackedCall, base: number): bigint =>
  (BigInt(attemptId - base) << 48n) | (BigInt(startedMs) << 24n) | BigInt(tookMs);

/** The text of an array whose elements need no quotes; null for one without any value. */
const toArray = (values: readonly (number | bigint | string | null)[]): string | null =>
  values.every((value) => value === null) ? null : `{${values.map((value) => value ?? 'null').join(',')}}`;

const uuidPattern = /^(.*?)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** The common prefix with the UUIDs of these ids, or else their whole texts: a UUID takes 16 bytes instead of 36. */
function toServiceIds(ids: readonly (string | null)[]): readonly [string | null, string | null, string | null] {
  const parts = ids.map((id) => (id === null ? null : uuidPattern.exec(id)));
  const prefix = parts.find((part) => part)?.[1];
  const isUniform = parts.every((part, index) => (part === null ? ids[index] === null : part[1] === prefix));
  if (prefix !== undefined && isUniform) return [prefix, toArray(parts.map((part) => part?.[2] ?? null)), null];
  const texts = ids.map((id) => (id === null ? null : `"${id.replaceAll(/["\\]/g, String.raw`\$&`)}"`));
  return [null, null, toArray(texts)];
}

/** The last answered search of this run, to repeat as a control search; null without one. */
export function findAnsweredRequest(database: Queryable, runId: number) {
  return findRow(
    database,
    z.object({ type: z.enum(partyTypes), name: z.string() }),
    `select request.type, request.name
     from (
       select request_base, requests, wide_requests from search_batch
       where run_id = $1 and (requests is not null or wide_requests is not null)
       order by batch_id desc limit 1
     ) batch
     join screening_request request on request.request_id = coalesce(batch.request_base + batch.requests[1], batch.wide_requests[1])`,
    [runId],
  );
}
