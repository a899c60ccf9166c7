import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import type { AttemptObserver } from '../../../src/client/operation.js';
import { printFigure } from '../../helpers/figures.js';
import { answerJson, startService, type TestService, testKey, toEmptyResult } from './start-service.js';

let service: TestService | undefined;
afterEach(() => service?.stop());

/** Lists when calls began after the refusal had arrived; what was sent before it is not meant. */
function watchRefusal(status: number): { observer: AttemptObserver; listLaterMs: () => readonly number[] } {
  let refusedMs = Number.POSITIVE_INFINITY;
  const startsMs: number[] = [];
  const observer: AttemptObserver = {
    started: () => void startsMs.push(performance.now()),
    ended: (_attempt, end) => {
      if (end.status === status) refusedMs = performance.now();
    },
  };
  return { observer, listLaterMs: () => startsMs.map((startMs) => startMs - refusedMs).filter((ms) => ms > 0) };
}

test.each([429, 503])(
  'after a %i with Retry-After nobody sends anything before the deadline, and no burst follows',
  async (status) => {
    const { observer, listLaterMs } = watchRefusal(status);
    const retryAfterMs = 1_000;
    service = await startService((request, response) => {
      if (service?.received.length === 10) answerJson(response, status, {}, { 'retry-after': '1' });
      else answerJson(response, 201, toEmptyResult(request));
    });
    const rate = { perSecond: 50, concurrency: 4 };
    const client = createClient({ baseUrl: service.url, apiKey: testKey, rate, observer });
    const names = Array.from({ length: 60 }, (_, index) => `Customer ${index}`);
    await Promise.all(names.map((name) => client.aml.search({ type: 'entity', name })));
    await client.close();
    const laterMs = listLaterMs();
    const early = laterMs.filter((ms) => ms < retryAfterMs).length;
    const inFirstTenth = laterMs.filter((ms) => ms >= retryAfterMs && ms < retryAfterMs + 100).length;
    printFigure(
      `pause after ${status}: ${early} requests before the deadline, ${inFirstTenth} in the tenth of a second after it`,
    );
    expect(service.received).toHaveLength(61);
    expect(early).toBe(0);
    expect(inFirstTenth).toBeLessThanOrEqual(7);
  },
);

test('a 429 without Retry-After holds all callers, a lone 503 only its own', async () => {
  const gapsMs: number[] = [];
  for (const status of [429, 503]) {
    const current = await startService((request, response) => {
      if (current.received.length === 3) answerJson(response, status, {});
      else answerJson(response, 201, toEmptyResult(request));
    });
    const { observer, listLaterMs } = watchRefusal(status);
    const client = createClient({
      ...{ baseUrl: current.url, apiKey: testKey, observer },
      random: () => 1,
      rate: { perSecond: 50, concurrency: 4 },
      retry: { baseDelayMs: 500 },
    });
    const names = Array.from({ length: 12 }, (_, index) => `Customer ${index}`);
    await Promise.all(names.map((name) => client.aml.search({ type: 'person', name })));
    await client.close();
    await current.stop();
    gapsMs.push(Math.min(...listLaterMs()));
  }
  expect(gapsMs[0]).toBeGreaterThanOrEqual(500);
  expect(gapsMs[1]).toBeLessThan(400);
});
