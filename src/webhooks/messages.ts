import { createHmac, hash } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import { type ConfigError, readErrorCode, usageError } from '../errors.js';
import type { RunMode } from '../vocabulary.js';

interface StateChange {
  /** Grows with each change: of two changes of a customer, the later one has the greater number. */
  sequence: number;
  roster: string;
  reference: string;
  /** Null for the first state of a customer. */
  from: string | null;
  to: string;
  /** Why the customer is not screened. */
  reason: string | null;
  asOf: Date | null;
  dueAt: Date | null;
  /** When the customer counts as not screened unless screened again; no message is sent at that moment. */
  expiresAt: Date | null;
  runId: string | null;
  mode: RunMode;
  changedAt: Date;
}

/**
 * One message with these changes. Its id contains a digest of the webhook's address and the last change, which is in no other message to it. With the first change, a
 * message that combines changes from a restored backup with newer ones would look like one that was sent before.
 */
export function buildMessage(url: string, changes: readonly StateChange[]): WebhookMessage {
  const id = `nightscreen_${hash('sha256', url).slice(0, 16)}_${changes.at(-1)?.sequence ?? 0}`;
  const events = changes.map((change) => ({ id: `status_${change.sequence}`, ...change }));
  return { id, body: JSON.stringify({ schema: 'nightscreen/status-changes/1', id, events }) };
}

/** A message to a webhook: each attempt sends the same id and bytes. */
interface WebhookMessage {
  id: string;
  body: string;
}

/** The headers with which a receiver checks a message (Standard Webhooks): a signature by each key over id, time and body. */
export function signMessage(
  { id, body }: WebhookMessage,
  keys: readonly Buffer[],
  now: Date,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const sign = (key: Buffer): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': keys.map(sign).join(' ') };
}

/** The result of one attempt; a failed message is tried again after `retryAfterMs` at the earliest. */
type PostResult = { kind: 'sent' | 'refused'; said: string } | { kind: 'failed'; said: string; retryAfterMs: number };

/** How long a receiver may take for its answer. */
export const webhookWaitMs = 10_000;

const longestAnswerBytes = 65_536;
const longestWaitMs = 24 * 60 * 60_000;

/**
 * Posts a message, signed as of now; never throws. `deadlineMs` covers everything up to the last byte of the answer. A redirect is not followed:
 * a signed message goes only to its own address.
 */
export async function postMessage(
  {
    url,
    keys,
    dispatcher,
    deadlineMs,
  }: { url: string; keys: readonly Buffer[]; dispatcher: Dispatcher; deadlineMs: number },
  message: WebhookMessage,
  now: Date,
  signal?: AbortSignal,
): Promise<PostResult> {
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const { statusCode, headers, body } = await request(url, {
      method: 'POST',
      headers: { ...signMessage(message, keys, now), 'content-type': 'application/json', 'user-agent': 'nightscreen' },
      body: message.body,
      dispatcher,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
    });
    await body.dump({ limit: longestAnswerBytes, signal: deadline }).catch(() => undefined);
    return assessStatus(statusCode, headers['retry-after']);
  } catch (error) {
    if (deadline.aborted) return { kind: 'failed', said: `no answer within ${deadlineMs} ms`, retryAfterMs: 0 };
    return { kind: 'failed', said: describeFailure(error), retryAfterMs: 0 };
  }
}

function assessStatus(status: number, retryAfter: string | string[] | undefined): PostResult {
  const said = `status ${status}`;
  if (status >= 200 && status < 300) return { kind: 'sent', said };
  if (status >= 300 && status < 400) return { kind: 'refused', said: `${said}: a redirect is not followed` };
  if (status === 410) return { kind: 'refused', said: `${said}: the receiver accepts no more messages` };
  const seconds = typeof retryAfter === 'string' && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : 0;
  return { kind: 'failed', said, retryAfterMs: Math.min(seconds * 1_000, longestWaitMs) };
}

/** Why no answer came, without the address. */
export const describeFailure = (error: unknown): string => {
  const code = readErrorCode(error);
  return code === null ? 'no connection' : `no connection (${code})`;
};

/**
 * The keys of a webhook's secret, `whsec_` and base64 of 24 to 64 bytes; two of them, separated by a space, while one replaces the other. Throws
 * ConfigError that names the variable, never its value.
 */
export function parseWebhookSecrets(variable: string, text: string | undefined): readonly Buffer[] {
  const fail = (message: string): ConfigError => usageError(`env ${variable}`, message);
  const words = text?.split(/\s+/).filter((word) => word !== '') ?? [];
  if (words.length === 0)
    throw fail('is not set; a webhook signs with its secret (openssl rand -base64 32, after whsec_)');
  if (words.length > 2) throw fail('holds more than two secrets');
  return words.map((word) => {
    const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(word) ?? [];
    const key = Buffer.from(encoded, 'base64');
    if (key.length >= 24 && key.length <= 64) return key;
    throw fail('must be whsec_ and the base64 of 24 to 64 random bytes');
  });
}
