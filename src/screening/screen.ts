import type { Aml, AmlSearchResult } from '../client/aml.js';
import type { Answer, CallOptions } from '../client/operation.js';
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NightscreenError,
  PaymentRequiredError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  StoreError,
  TimeoutError,
} from '../errors.js';
import type { ScreeningRequest } from '../roster/customer.js';

/** The outcome of one search. Only `screened` says anything about the customer. */
export type ScreeningOutcome =
  | { kind: 'screened'; answer: Answer<AmlSearchResult> }
  /** No valid answer. `isTransient`: the service was out of reach. `isBadAnswer`: the answer breaks the contract. */
  | { kind: 'failed'; reason: string; isTransient: boolean; isBadAnswer: boolean }
  /** The account cannot search any more, so the run stops (DESIGN: Errors). */
  | { kind: 'halted'; error: ApiError }
  /** Aborted by this process. */
  | { kind: 'aborted' };

/** Makes one search (interface: AML search). Never throws for an error of the service or the network, only for an error of the ledger. */
export const screen = (aml: Aml, request: ScreeningRequest, options: CallOptions): Promise<ScreeningOutcome> =>
  aml.search(request, options).then(
    (answer) => ({ kind: 'screened', answer }),
    (error: unknown) => toOutcome(error, options),
  );

function toOutcome(error: unknown, { signal, waitSignal }: CallOptions): ScreeningOutcome {
  if (signal?.aborted || (waitSignal?.aborted && error === waitSignal.reason)) return { kind: 'aborted' };
  if (isHalting(error)) return { kind: 'halted', error };
  // Any other error is ours: when the ledger cannot be written, nothing may be sent.
  if (!(error instanceof NightscreenError) || error instanceof StoreError) throw error;
  const isBadAnswer = error instanceof ResponseError && !error.isStandIn;
  return { kind: 'failed', reason: toFailureReason(error), isTransient: isTransient(error), isBadAnswer };
}

/** Whether no further call can succeed until a person acts: key rejected, out of funds, role or plan. */
export function isHalting(error: unknown): error is ApiError {
  return (
    error instanceof AuthenticationError || error instanceof PaymentRequiredError || error instanceof PermissionError
  );
}

/** Whether the service was out of reach, or something else answered in its place, so that the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ResponseError) return error.isStandIn;
  return (
    error instanceof ConnectionError ||
    error instanceof ServiceUnavailableError ||
    error instanceof RateLimitError ||
    error instanceof ServerError ||
    (error instanceof ApiError && error.isUntimely)
  );
}

export function toFailureReason(error: NightscreenError): string {
  if (error instanceof TimeoutError) return 'timeout';
  if (error instanceof ConnectionError) return 'connection';
  if (error instanceof ResponseError) return error.code;
  if (error instanceof ApiError) return `http_${error.status}`;
  return error.code;
}
