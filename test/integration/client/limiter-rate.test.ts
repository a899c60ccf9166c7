import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../../src/client/create-client.js';
import {
  answerJson,
  countBusiestSecond,
  printFigure,
  startService,
  type TestService,
  testKey,
  toEmptyResult,
} from './start-service.js';

let service: TestService | undefined;
afterEach(() => service?.stop());

const toSpread = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

test('300 searches at 100 a second with 30 % 503 never exceed 100 in a sliding second', {
  timeout: 20_000,
}, async () => {
  const random = toSpread(7);
  service = await startService((request, response) => {
    if (random() < 0.3) answerJson(response, 503, { error: { type: 'service_unavailable' } });
    else answerJson(response, 201, toEmptyResult(request));
  });
  const client = createClient({
    baseUrl: service.url,
    apiKey: testKey,
    rate: { perSecond: 100, concurrency: 16 },
    retry: { baseDelayMs: 50, maxDelayMs: 400, maxAttempts: 12 },
  });
  const startsMs: number[] = [];
  const observer = { started: () => startsMs.push(performance.now()) };
  const startedMs = performance.now();
  const names = Array.from({ length: 300 }, (_, index) => `Customer ${index}`);
  const answers = await Promise.all(names.map((name) => client.aml.search({ type: 'person', name }, { observer })));
  const seconds = (performance.now() - startedMs) / 1_000;
  await client.close();
  const calls = service.received.length;
  const busiest = countBusiestSecond(startsMs);
  const busiestThere = countBusiestSecond(service.received.map((request) => request.atMs));
  printFigure(
    `limiter: ${answers.length} searches, ${calls} calls in ${seconds.toFixed(2)} s (${(calls / seconds).toFixed(1)}/s), busiest sliding second ${busiest} sent, ${busiestThere} arrived`,
  );
  expect(answers.reduce((sum, answer) => sum + answer.attempts, 0)).toBe(calls);
  expect(busiest).toBeLessThanOrEqual(100);
  // What arrives is only printed: a delay between here and there can press arrivals together, and no sender can rule that out.
  expect(calls / seconds).toBeGreaterThan(50);
});

test('500 a second, more than one job per call can give, is never exceeded', async () => {
  service = await startService((request, response) => answerJson(response, 201, toEmptyResult(request)));
  const client = createClient({ baseUrl: service.url, apiKey: testKey, rate: { perSecond: 500, concurrency: 32 } });
  const startsMs: number[] = [];
  const observer = { started: () => startsMs.push(performance.now()) };
  const startedMs = performance.now();
  const names = Array.from({ length: 1_500 }, (_, index) => `Customer ${index}`);
  await Promise.all(names.map((name) => client.aml.search({ type: 'person', name }, { observer })));
  const seconds = (performance.now() - startedMs) / 1_000;
  await client.close();
  const busiest = countBusiestSecond(startsMs);
  const busiestThere = countBusiestSecond(service.received.map((request) => request.atMs));
  printFigure(
    `limiter: 1500 calls in ${seconds.toFixed(2)} s, busiest sliding second ${busiest} sent, ${busiestThere} arrived`,
  );
  expect(busiest).toBeLessThanOrEqual(500);
  expect(1_500 / seconds).toBeGreaterThan(200);
});
