import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { callSandbox, type Sent, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [listed('amla_a', 'Ivan Morozkin')], dossiers: [dossier('a')] } });
});
afterEach(() => sandbox.close());

const person = { body: { type: 'person', name: 'Ivan Morozkin' } };
const search = (sent: Sent = {}) => callSandbox(sandbox, 'POST /aml/search', { ...person, ...sent });

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
