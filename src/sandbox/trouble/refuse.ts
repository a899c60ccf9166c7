import type { Call } from '../calls.js';
import { toErrorBody } from '../calls.js';

/** How a call is refused without any work. */
export interface Refusal {
  status: number;
  message: string;
  /** The error code; the status decides by default. */
  code?: string | undefined;
  /** The header as it is sent. */
  retryAfter?: string | undefined;
  /** The body as it is sent; the service's error body by default. */
  body?: string | undefined;
}

/** The code of a 402 depends on the operation (interface: Errors); every other one on the status alone. */
const findCode = (path: string, status: number): string | undefined =>
  status === 402 && path.startsWith('/autodoc/') ? 'insufficient_balance' : undefined;

/** The answer to a refused call. */
export const toRefusal = (context: Call, refusal: Refusal): Response => {
  const { status, message, code, retryAfter, body } = refusal;
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (retryAfter !== undefined) headers['Retry-After'] = retryAfter;
  const errorBody = toErrorBody(status, message, code ?? findCode(context.var.entry.path, status));
  return new Response(body ?? JSON.stringify(errorBody), { status, headers });
};
