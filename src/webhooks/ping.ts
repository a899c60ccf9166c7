import { request } from 'undici';
import { openDispatcher } from '../outgoing.js';
import { describeFailure } from './messages.js';

const suffixes = { start: '/start', success: '', failure: '/fail' } as const;
/** Monitors keep this much of a body. */
const longestBody = 10_000;
const longestAnswerBytes = 4_096;

function toPingUrl(address: string, kind: keyof typeof suffixes, runUuid: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}${suffixes[kind]}`;
  url.searchParams.set('rid', runUuid);
  return url.href;
}

/**
 * Posts a ping: start and end of one look have the same `runUuid`, and `body` has details, without personal data. Gives the reason when it was not accepted,
 * otherwise null. Never throws, ends within `deadlineMs` or by `stop`, never shows the address.
 */
export async function sendPing(
  address: string,
  ping: { kind: keyof typeof suffixes; runUuid: string; body: string },
  deadlineMs: number,
  stop: AbortSignal,
): Promise<string | null> {
  const signal = AbortSignal.any([AbortSignal.timeout(deadlineMs), stop]);
  const dispatcher = openDispatcher({ connectTimeoutMs: deadlineMs });
  try {
    const { statusCode, body } = await request(toPingUrl(address, ping.kind, ping.runUuid), {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8', 'user-agent': 'nightscreen' },
      body: ping.body.slice(0, longestBody),
      dispatcher,
      signal,
    });
    await body.dump({ limit: longestAnswerBytes, signal }).catch(() => undefined);
    return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`;
  } catch (error) {
    if (stop.aborted) return 'no answer before this process had to stop';
    if (signal.aborted) return `no answer within ${deadlineMs} ms`;
    return describeFailure(error);
  } finally {
    await dispatcher.destroy();
  }
}
