import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { AttemptObserver } from '../../../src/client/operation.js';
import { makeScaledClock } from '../../helpers/clocks.js';
import { printFigure } from '../../helpers/figures.js';
import { answerJson, openClient, type Received, toEmptyResult } from './start-service.js';

// Five seconds by the clock of the client, which runs ten times as fast.
const pauseMs = 500;

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
    const rate = { perSecond: 50, concurrency: 4 };
    const clock = makeScaledClock(10);
    const answer = (request: Received, response: ServerResponse): void => {
      if (service.received.length === 10) answerJson(response, status, {}, { 'retry-after': '5' });
      else answerJson(response, 201, toEmptyResult(request));
    };
    const { service, client } = await openClient(answer, { rate, observer, clock });
    const names = Array.from({ length: 30 }, (_, index) => `Customer ${index}`);
    await Promise.all(names.map((name) => client.aml.search({ type: 'entity', name })));
    const laterMs = listLaterMs();
    const early = laterMs.filter((ms) => ms < pauseMs).length;
    const inFirstTenth = laterMs.filter((ms) => ms >= pauseMs && ms < pauseMs + 100).length;
    printFigure(
      `pause after ${status}: ${early} requests before the deadline, ${inFirstTenth} in the tenth of a second after it`,
    );
    expect(service.received).toHaveLength(31);
    expect(early).toBe(0);
    expect(inFirstTenth).toBeLessThanOrEqual(7);
  },
);
