import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/sandbox/calls.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { printFigure } from '../../helpers/figures.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { callSandbox, type Sent, steerSandbox, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [listed('amla_a', 'Ivan Morozkin')], dossiers: [dossier('a')] } });
});
afterEach(() => sandbox.close());

const person = { body: { type: 'person', name: 'Ivan Morozkin' } };
const search = (sent: Sent = {}) => callSandbox(sandbox, 'POST /aml/search', { ...person, ...sent });
const withStatus = (status: number | null): LedgerEntry[] => sandbox.ledger().filter((call) => call.status === status);

/** Searches with several callers at once until the time is over, or so many calls were made. */
const searchFor = async ({ durationMs = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY, pauseMs = 0 }) => {
  const endMs = performance.now() + durationMs;
  let made = 0;
  const callers = Array.from({ length: 8 }, async () => {
    while (performance.now() < endMs && made < calls) {
      made += 1;
      await search();
      await delay(pauseMs);
    }
  });
  await Promise.all(callers);
  return made;
};

const countFullestSecond = (calls: readonly LedgerEntry[]): number => {
  const times = calls.map((call) => call.atMs).sort((one, other) => one - other);
  return Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + 1_000).length));
};

describe('a rate limit', () => {
  it('lets exactly its number through in any second that slides, whatever is refused meanwhile', async () => {
    // A busy machine makes some thirty calls in a second.
    sandbox.setConditions({ limit: { perSecond: 10, retryAfter: true } });
    const made = await searchFor({ durationMs: 2_500, pauseMs: 10 });
    const accepted = withStatus(201);
    const fullest = countFullestSecond(accepted);
    printFigure(
      `sandbox limit of 10: ${made} calls in 2.5 s, ${accepted.length} accepted, ${fullest} in the fullest second`,
    );
    expect(fullest).toBe(10);
    // Two full seconds at the least, also where a busy machine asks late.
    expect(accepted.length).toBeGreaterThanOrEqual(20);
    // Whoever is refused comes after ten in less than a second.
    for (const { atMs } of withStatus(429))
      expect(accepted.filter((call) => call.atMs <= atMs && atMs - call.atMs < 1_000).length).toBe(10);
    expect(withStatus(429).length).toBe(made - accepted.length);
    expect(sandbox.ledger().every((call) => call.worked === (call.status === 201))).toBe(true);
  });

  it('is told as rate_limit_exceeded, with Retry-After when that was asked for, to each key for itself', async () => {
    sandbox.setConditions({ limit: { perSecond: 1, retryAfter: true } });
    await search();
    const refused = await search();
    expect([toOutcome(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', '1']);
    expect((await search({ key: sandbox.livePrivateKey })).status).toBe(201);
    sandbox.setConditions({ limit: { perSecond: 1 } });
    await search();
    expect((await search()).headers.get('retry-after')).toBeNull();
  });
});

describe('refusals by chance', () => {
  it('hit about their share of calls, do no work, and are all in ledger and counts', async () => {
    sandbox.setConditions({ refuse: { share: 0.3, status: 502, seed: 11, retryAfter: '2' } });
    const made = await searchFor({ calls: 500 });
    const refused = withStatus(502);
    printFigure(`sandbox share of 0.3: ${refused.length} of ${made} calls refused`);
    expect(Math.abs(refused.length / made - 0.3)).toBeLessThan(0.04);
    expect(refused.some((call) => call.worked)).toBe(false);
    const response = await fetch(new URL('/_sandbox/ledger', sandbox.url));
    expect(await response.json()).toMatchObject({
      counts: { 'POST /aml/search 502': refused.length, 'POST /aml/search 201': made - refused.length },
    });
  });

  it('carry the Retry-After they were given', async () => {
    sandbox.setConditions({ refuse: { share: 1, retryAfter: 'Wed, 21 Oct 2015 07:28:00 GMT' } });
    const refused = await search();
    expect(refused.headers.get('retry-after')).toBe('Wed, 21 Oct 2015 07:28:00 GMT');
    expect(toOutcome(refused)).toBe('503 service_unavailable');
  });
});

describe('an outage', () => {
  it('fails every matching call until the weather changes, and no other path', async () => {
    sandbox.setConditions({ path: '/aml/search', outage: {} });
    expect(toOutcome(await search())).toBe('503 service_unavailable');
    expect(toOutcome(await search())).toBe('503 service_unavailable');
    expect((await callSandbox(sandbox, 'GET /dossiers')).status).toBe(200);
    sandbox.setConditions({});
    expect((await search()).status).toBe(201);
    expect(sandbox.ledger().map((call) => call.worked)).toEqual([false, false, true, true]);
  });

  it('that cuts leaves calls without status and without work', async () => {
    sandbox.setConditions({ outage: { status: 'cut' } });
    await expect(search()).rejects.toThrow();
    await expect.poll(() => sandbox.ledger()).toMatchObject([{ status: null, worked: false }]);
  });

  it('that hangs answers nothing until the caller gives up, which counts as cut', async () => {
    sandbox.setConditions({ outage: { status: 'hang' } });
    const controller = new AbortController();
    const pending = fetch(`${sandbox.url}/dossiers`, { signal: controller.signal });
    await expect.poll(() => sandbox.ledger().length).toBe(1);
    sandbox.setConditions({});
    const first = await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))]);
    expect(first).toBe('silence');
    controller.abort();
    await expect(pending).rejects.toThrow();
    await expect
      .poll(async () => (await fetch(new URL('/_sandbox/ledger', sandbox.url))).json())
      .toMatchObject({ counts: { 'GET /dossiers cut': 1 }, calls: [{ status: null, worked: false }] });
  });

  it('that hangs does not keep the sandbox from closing', async () => {
    sandbox.setConditions({ outage: { status: 'hang' } });
    const pending = search();
    pending.catch(() => undefined);
    await expect.poll(() => sandbox.ledger().length).toBe(1);
    await sandbox.close();
    await expect(pending).rejects.toThrow();
    sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  });
});

describe('latency', () => {
  it('answers later, after the work was done', async () => {
    sandbox.setConditions({ latencyMs: { min: 400, max: 410 } });
    const startMs = performance.now();
    const pending = search();
    await expect.poll(() => sandbox.ledger()[0]).toMatchObject({ worked: true, status: null });
    expect((await pending).status).toBe(201);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(398);
  });
});

describe('weather and faults together', () => {
  it('let a matching fault decide alone, and all other calls meet the weather', async () => {
    sandbox.setConditions({ outage: { status: 500 } });
    sandbox.setFaults([{ status: 402, afterCalls: 1 }, { delayMs: 1 }]);
    const outcomes = [];
    for (let count = 0; count < 4; count += 1) outcomes.push(toOutcome(await search()));
    expect(outcomes).toEqual(['500 api_error', '402 payment_required', '201', '500 api_error']);
  });
});

describe('steering the weather over HTTP', () => {
  it('takes every part, and nothing that it does not know', async () => {
    const whole = {
      path: '/aml/search',
      limit: { perSecond: 5, retryAfter: true },
      refuse: { share: 0, status: 503, seed: 1, retryAfter: '1' },
      latencyMs: { min: 0, max: 1, seed: 1 },
    };
    expect((await steerSandbox(sandbox, 'weather', whole)).status).toBe(204);
    expect((await search()).status).toBe(201);
    expect((await steerSandbox(sandbox, 'weather', { outage: { status: 418 } })).status).toBe(204);
    expect((await search()).status).toBe(418);
    const refused = await Promise.all(
      [{ fog: true }, { outage: { status: 'maybe' } }, { limit: {} }, { refuse: { share: 1, extra: 1 } }, []].map(
        async (order) => toOutcome(await steerSandbox(sandbox, 'weather', order)),
      ),
    );
    expect(new Set(refused)).toEqual(new Set(['400 invalid_request_error']));
    expect((await search()).status).toBe(418);
    expect((await steerSandbox(sandbox, 'weather', {})).status).toBe(204);
    expect((await search()).status).toBe(201);
  });
});
