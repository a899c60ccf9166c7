import type { Client } from '../../client/create-client.js';
import type { CallOptions } from '../../client/operation.js';
import { ApiError, NightscreenError, ResponseError } from '../../errors.js';
import { isHalting, isTransient, toFailureReason } from '../../screening/screen.js';
import { type KeptRecord, readRecord } from './read-record.js';
import type { DetailRecord } from './record-ids.js';

/** What came of one look-up. */
export type RecordOutcome =
  | { kind: 'answered'; status: number; requestId: string | null; received: string; record: KeptRecord }
  /** `isTransient` when the service was out of reach, rather than the record not there. */
  | { kind: 'not_available'; status: number | null; requestId: string | null; reason: string; isTransient: boolean }
  /** The account may not ask any more. */
  | { kind: 'refused' }
  /** Broken off by us. */
  | { kind: 'aborted' };

// What describes one listed party is small; whatever else comes is not what was asked for.
const mostCharacters = 1_048_576;

/** Looks up one record (interface: Single-record lookups); never throws for what the service or the network does. */
export async function askRecord(
  { aml }: Client,
  { kind, id }: DetailRecord,
  options: CallOptions,
): Promise<RecordOutcome> {
  try {
    const { body, status, requestId = null } = await aml[kind](id, options);
    if (body.length > mostCharacters) {
      return { kind: 'not_available', status, requestId, reason: 'too_large', isTransient: false };
    }
    return { kind: 'answered', status, requestId, received: body, record: readRecord(body) };
  } catch (error) {
    if (options.signal?.aborted) return { kind: 'aborted' };
    if (options.waitSignal?.aborted && error === options.waitSignal.reason) return { kind: 'aborted' };
    if (isHalting(error)) return { kind: 'refused' };
    if (!(error instanceof NightscreenError)) throw error;
    const status = error instanceof ApiError || error instanceof ResponseError ? error.status : null;
    const requestId = error instanceof ApiError ? (error.requestId ?? null) : null;
    const reason = toFailureReason(error);
    return { kind: 'not_available', status, requestId, reason, isTransient: isTransient(error) };
  }
}
