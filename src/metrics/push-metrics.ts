import { request } from 'undici';
import { openDispatcher } from '../outgoing.js';

const longestAnswerBytes = 4_096;

/** What is pushed, and what becomes of what any command pushed before: all of it is replaced, or only the metrics that are in the text. */
export interface PushedMetrics {
  text: string;
  contentType: string;
  replaces: 'all' | 'same';
}

/** A push gateway: its address, the `authorization` header that it asks for (null for none), and how long a push may take. */
export interface PushGateway {
  address: string;
  authorization: string | null;
  deadlineMs: number;
}

/** Puts metrics into a push gateway; throws Error in words, which show neither address nor secret, when they are not taken in time. */
export async function pushMetrics(
  { address, authorization, deadlineMs }: PushGateway,
  { text, contentType, replaces }: PushedMetrics,
): Promise<void> {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/metrics/job/nightscreen`;
  const method = replaces === 'all' ? 'PUT' : 'POST';
  const headers = { 'content-type': contentType, ...(authorization === null ? {} : { authorization }) };
  const signal = AbortSignal.timeout(deadlineMs);
  const dispatcher = openDispatcher({ connectTimeoutMs: deadlineMs });
  let statusCode: number;
  try {
    // A redirect is not followed: what opens one address is shown to no other.
    const answer = await request(url, { method, headers, body: text, dispatcher, signal });
    await answer.body.dump({ limit: longestAnswerBytes, signal }).catch(() => undefined);
    statusCode = answer.statusCode;
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${deadlineMs} ms`, { cause: error });
    throw new Error(error instanceof Error ? error.message : 'no connection', { cause: error });
  } finally {
    await dispatcher.destroy();
  }
  if (statusCode < 200 || statusCode >= 300) throw new Error(describeStatus(statusCode, authorization !== null));
}

function describeStatus(status: number, isAuthorized: boolean): string {
  if (status >= 300 && status < 400) return `status ${status}: a redirect is not followed`;
  if (status !== 401 && status !== 403) return `status ${status}`;
  return isAuthorized
    ? `status ${status}: the push gateway does not take the secret (metrics.pushgatewaySecretEnv)`
    : `status ${status}: the push gateway asks for a secret (set metrics.pushgatewaySecretEnv)`;
}
