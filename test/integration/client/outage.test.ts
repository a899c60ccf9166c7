import { afterEach, expect, test } from 'vitest';
import type { ClientEvent } from '../../../src/client/client-event.js';
import { createClient } from '../../../src/client/create-client.js';
import { printFigure } from '../../helpers/print-figure.js';
import { makeScaledClock } from '../../helpers/scaled-clock.js';
import { answerJson, startService, type TestService, testKey, toEmptyResult } from './start-service.js';

let service: TestService | undefined;
afterEach(() => service?.stop());

const factor = 60;
const tenMinutesMs = 600_000;

test.each(['503', 'cut'])(
  'ten minutes of outage (%s) cost at most 40 calls beyond those in flight, and fail nobody',
  {
    timeout: 40_000,
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
    const afterGood = sentMs.filter((atMs) => atMs > goodMs && atMs <= goodMs + 5_000).length;
    const gapsMs = duringMs.map((atMs, index) => atMs - (duringMs[index - 1] ?? beganMs));
    const beyond = duringMs.length - rate.concurrency;
    printFigure(
      `outage of ten minutes (503 and cut connections, clock ${factor} times as fast): ${duringMs.length} calls, ${rate.concurrency} of them in flight when it began; longest gap between probes ${(Math.max(...gapsMs) / 1_000).toFixed(1)} s; ${afterGood} calls in the 5 s after the first good probe; ${failed} failed`,
    );
    expect(beyond).toBeLessThanOrEqual(40);
    // Three seconds of slack are fifty real milliseconds, for timers and sockets.
    expect(Math.max(...gapsMs)).toBeLessThan(23_000);
    expect(goodMs - (beganMs + tenMinutesMs)).toBeLessThan(23_000);
    expect(afterGood).toBeGreaterThan(rate.concurrency);
    expect(failed).toBe(0);
    expect(answered).toBeGreaterThan(100);
    expect(events.filter((event) => event !== 'paused')).toEqual(['outage_began', 'outage_ended']);
  },
);
