import { request } from 'undici';

const longestAnswerBytes = 4_096;

/** What is pushed, and what becomes of what any command pushed before: all of it is replaced, or only the metrics that are in the text. */
export interface PushedMetrics {
  text: string;
  contentType: string;
  replaces: 'all' | 'same';
}

/** Puts metrics into a push gateway; throws Error in words when they are not taken in time. */
export async function pushMetrics(
  gateway: string,
  { text, contentType, replaces }: PushedMetrics,
  deadlineMs: number,
): Promise<void> {
  const url = new URL(gateway);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/metrics/job/nightscreen`;
  const method = replaces === 'all' ? 'PUT' : 'POST';
  const signal = AbortSignal.timeout(deadlineMs);
  let statusCode: number;
  try {
    const answer = await request(url, { method, headers: { 'content-type': contentType }, body: text, signal });
    await answer.body.dump({ limit: longestAnswerBytes, signal }).catch(() => undefined);
    statusCode = answer.statusCode;
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${deadlineMs} ms`, { cause: error });
    throw new Error(error instanceof Error ? error.message : 'no connection', { cause: error });
  }
  if (statusCode < 200 || statusCode >= 300) throw new Error(`status ${statusCode}`);
}
