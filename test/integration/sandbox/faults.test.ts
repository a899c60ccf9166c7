import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { printFigure } from '../../helpers/figures.js';
import { dossier } from '../../unit/sandbox/world-samples.js';
import { callSandbox, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [dossier('a')] } });
});
afterEach(() => sandbox.close());

const search = { body: { type: 'person', name: 'Ivan Morozkin' } };
const fetchDossiers = (signal: AbortSignal): Promise<Response> =>
  fetch(`${sandbox.url}/dossiers`, { signal, headers: { authorization: `Bearer ${sandbox.privateKey}` } });

describe('a fault', () => {
  it('of status 402 is told as insufficient_balance on invitations and payment_required elsewhere', async () => {
    sandbox.setFaults([{ status: 402, times: 2 }]);
    expect(toOutcome(await callSandbox(sandbox, 'POST /autodoc/invitations'))).toBe('402 insufficient_balance');
    expect(toOutcome(await callSandbox(sandbox, 'POST /aml/search', search))).toBe('402 payment_required');
  });

  it('may hang before the headers: nothing comes and nothing was done', async () => {
    sandbox.setFaults([{ hang: 'before_headers' }]);
    await expect(fetchDossiers(AbortSignal.timeout(300))).rejects.toThrow();
    await expect.poll(() => sandbox.ledger()).toMatchObject([{ status: null, worked: false }]);
    expect((await callSandbox(sandbox, 'GET /dossiers')).status).toBe(200);
  });

  it('may hang in the body: the headers of work done, then a space every 200 ms without end', async () => {
    sandbox.setFaults([{ hang: 'in_body' }]);
    const controller = new AbortController();
    const response = await fetchDossiers(controller.signal);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    const startMs = performance.now();
    let text = '';
    while (text.length < 4) text += new TextDecoder().decode((await reader?.read())?.value);
    expect(text).toBe('    ');
    expect(performance.now() - startMs).toBeGreaterThan(400);
    controller.abort();
    expect(sandbox.ledger()).toMatchObject([{ status: 200, worked: true }]);
  });

  it('may redirect without doing the work', async () => {
    sandbox.setFaults([{ redirect: { location: 'http://elsewhere.example/v1/aml/search' } }]);
    const received = await callSandbox(sandbox, 'POST /aml/search', search);
    expect([received.status, received.headers.get('location')]).toEqual([
      302,
      'http://elsewhere.example/v1/aml/search',
    ]);
    expect(sandbox.ledger()).toMatchObject([{ status: 302, worked: false }]);
  });

  it('may answer a huge JSON body that is never held in memory', async () => {
    sandbox.setFaults([{ huge: { megabytes: 200 } }, { huge: { megabytes: 0.5 } }]);
    global.gc?.();
    const beforeBytes = process.memoryUsage.rss();
    const { status, bytes } = await new Promise<{ status: number; bytes: number }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${sandbox.privateKey}` };
      get(`${sandbox.url}/dossiers`, { headers }, (response) => {
        let received = 0;
        response.on('data', (piece: Buffer) => {
          received += piece.length;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: received })).on('error', reject);
      }).on('error', reject);
    });
    const grownMegabytes = (process.memoryUsage.rss() - beforeBytes) / 1_048_576;
    printFigure(`sandbox body of 200 MB: ${bytes} bytes read, memory grew by ${grownMegabytes.toFixed(0)} MB`);
    expect([status, Math.round(bytes / 1_048_576)]).toEqual([201, 200]);
    expect(grownMegabytes).toBeLessThan(100);
    const small = await callSandbox(sandbox, 'GET /dossiers');
    expect(String(small.json['filler']).length).toBe(524_288);
  });
});
