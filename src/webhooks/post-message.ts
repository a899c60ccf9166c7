import { type Dispatcher, request } from 'undici';
import { signMessage, type WebhookMessage } from './sign-message.js';

/** What came of one attempt; what failed is to be tried again, not before `retryAfterMs` have passed. */
export type PostResult =
  | { kind: 'sent' | 'refused'; said: string }
  | { kind: 'failed'; said: string; retryAfterMs: number };

/** To whom, by which keys, and how long an attempt may take from its first byte to the last of the answer. */
export interface PostTarget {
  url: string;
  keys: readonly Buffer[];
  dispatcher: Dispatcher;
  deadlineMs: number;
}

/** How long a receiver may take for its answer. */
export const webhookPatienceMs = 10_000;

const longestAnswerBytes = 65_536;
const longestWaitMs = 24 * 60 * 60_000;

/** Posts a message, signed as of now; never throws. A redirect is not followed: what is signed for one address goes to no other. */
export async function postMessage(
  { url, keys, dispatcher, deadlineMs }: PostTarget,
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
    return judgeStatus(statusCode, headers['retry-after']);
  } catch (error) {
    if (deadline.aborted) return { kind: 'failed', said: `no answer within ${deadlineMs} ms`, retryAfterMs: 0 };
    return { kind: 'failed', said: describeFailure(error), retryAfterMs: 0 };
  }
}

function judgeStatus(status: number, retryAfter: string | string[] | undefined): PostResult {
  const said = `status ${status}`;
  if (status >= 200 && status < 300) return { kind: 'sent', said };
  if (status >= 300 && status < 400) return { kind: 'refused', said: `${said}: a redirect is not followed` };
  if (status === 410) return { kind: 'refused', said: `${said}: the receiver wants no more` };
  const seconds = typeof retryAfter === 'string' && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : 0;
  return { kind: 'failed', said, retryAfterMs: Math.min(seconds * 1_000, longestWaitMs) };
}

const describeFailure = (error: unknown): string => {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `no connection (${code})` : 'no connection';
};
