import { afterEach, expect, test, vi } from 'vitest';
import { type ClientEvent, createClient } from '../../src/client/client.js';
import type { Attempt, AttemptEnd } from '../../src/client/operation.js';
import { makeScaledClock } from '../helpers/clocks.js';
import { printFigure } from '../helpers/figures.js';
import {
  answerJson,
  startService,
  type TestService,
  testKey,
  toEmptyResult,
} from '../integration/client/start-service.js';

let service: TestService | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await service?.stop();
});

// A second of this machine, which may be busy, is half a minute.
const factor = 30;
const tenMinutesMs = 600_000;

test.each(['503', 'cut'])(
  'ten minutes of outage (%s) cost at most 40 calls beyond those in flight, and fail nobody',
  {
    timeout: 120_000,
  },
  async (kind) => {
    const clock = makeScaledClock(factor);
    let isOut = false;
    const sentMs: number[] = [];
    service = await startService((request, response) => {
      sentMs.push(clock.elapsedMs());
      if (!isOut) setTimeout(() => answerJson(response, 201, toEmptyResult(request)), 10);
      else if (kind === '503') answerJson(response, 503, { error: { type: 'service_unavailable' } });
      else response.socket?.destroy();
    });
    const rate = { perSecond: 400, concurrency: 8 };
    const client = createClient({ baseUrl: service.url, apiKey: testKey, clock, rate, retry: { maxAttempts: 100 } });
    const events: ClientEvent['kind'][] = [];
    client.listen((event) => events.push(event.kind));
    let isOver = false;
    function* names(): Generator<{ type: 'person'; name: string }> {
      for (let number = 0; !isOver; number += 1) yield { type: 'person', name: `Customer ${number}` };
    }
    let failed = 0;
    let answered = 0;
    const going = (async () => {
      for await (const { error } of client.aml.searchEach(names(), { concurrency: 8 })) {
        if (error === undefined) answered += 1;
        else failed += 1;
      }
    })();
    await clock.sleep(60_000);
    const before = sentMs.length;
    isOut = true;
    const beganMs = clock.elapsedMs();
    await clock.sleep(tenMinutesMs);
    isOut = false;
    const duringMs = sentMs.slice(before);
    const goodIndex = sentMs.length;
    await clock.sleep(40_000);
    isOver = true;
    await going;
    await client.close();
    const goodMs = sentMs[goodIndex] ?? Number.NaN;
    // The rate goes by the machine's own time.
    const afterGood = sentMs.filter((atMs) => atMs > goodMs && atMs <= goodMs + 500 * factor).length;
    const gapsMs = duringMs.map((atMs, index) => atMs - (duringMs[index - 1] ?? beganMs));
    const beyond = duringMs.length - rate.concurrency;
    printFigure(
      `outage of ten minutes (${kind}, clock ${factor} times as fast): ${duringMs.length} calls, ${rate.concurrency} of them in flight when it began; longest gap between probes ${(Math.max(...gapsMs) / 1_000).toFixed(1)} s; ${afterGood} calls in the half second (unscaled, at most 200) after the first good probe; ${failed} failed`,
    );
    expect(beyond).toBeLessThanOrEqual(40);
    // Twenty seconds of slack are 667 real milliseconds, for timers and sockets on a busy machine.
    expect(Math.max(...gapsMs)).toBeLessThan(40_000);
    expect(goodMs - (beganMs + tenMinutesMs)).toBeLessThan(40_000);
    expect(afterGood).toBeGreaterThan(rate.concurrency);
    expect(failed).toBe(0);
    expect(answered).toBeGreaterThan(100);
    expect(events.filter((event) => event !== 'paused')).toEqual(['outage_began', 'outage_ended']);
  },
);

test('a probe that hangs is given up after 20 seconds, whatever an ordinary attempt may take', async () => {
  // Deadlines are kept by the machine's timers and monotonic clock, which run as fast as the clock here.
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() * factor);
  const elapsedMs = (): number => performance.now();
  const now = (): Date => new Date(Date.UTC(2026, 0, 1) + elapsedMs());
  const clock = { ...makeScaledClock(factor), elapsedMs, now };
  const setRealTimeout = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms = 0, ...given) =>
    setRealTimeout(callback, ms / factor, ...given),
  );
  let isHanging = true;
  const probes: string[] = [];
  service = await startService((request, response) => {
    const count = service?.received.length ?? 0;
    if (count === 1) return;
    if (count <= 10) answerJson(response, 503, {});
    else if (!isHanging) answerJson(response, 201, toEmptyResult(request));
  });
  const tookSeconds: number[] = [];
  const observer = {
    ended: ({ attempt, startedAt }: Attempt, { outcome, endedAt }: AttemptEnd) => {
      if (outcome === 'timeout') tookSeconds.push((endedAt.getTime() - startedAt.getTime()) / 1_000);
      if (attempt > 10) probes.push(outcome);
      isHanging = probes.length < 2;
    },
  };
  const client = createClient({
    baseUrl: service.url,
    apiKey: testKey,
    clock,
    timeoutSeconds: 40,
    rate: { perSecond: 100, concurrency: 1 },
    retry: { maxAttempts: 100, baseDelayMs: 1, maxDelayMs: 1 },
  });
  await client.identify();
  const answer = await client.aml.search({ type: 'person', name: 'Customer' }, { observer });
  await client.close();
  expect(answer.attempts).toBe(13);
  expect(probes).toEqual(['timeout', 'timeout', 'ok']);
  const [ordinary = 0, ...ofProbes] = tookSeconds;
  printFigure(
    `outage: a probe that hangs is given up after ${ofProbes.map((seconds) => seconds.toFixed(0)).join(' and ')} s, an ordinary attempt after ${ordinary.toFixed(0)} s`,
  );
  expect(ordinary).toBeGreaterThanOrEqual(39);
  for (const seconds of ofProbes) {
    expect(seconds).toBeGreaterThanOrEqual(19);
    // Ten seconds of slack are 333 real milliseconds.
    expect(seconds).toBeLessThan(30);
  }
});
