import { expect, it } from 'vitest';
import { Ledger } from '../../../src/sandbox/calls.js';

it('a ledger keeps the last 100,000 calls and counts all of them, under a bounded number of counters', () => {
  const ledger = new Ledger();
  const arrival = { time: '2026-01-01T00:00:00.000Z', atMs: 1 };
  const call = {
    ...arrival,
    queryString: '',
    searchName: null,
    searchType: null,
    keyFamily: 'none',
    mode: null,
  } as const;
  for (let index = 0; index < 150_000; index += 1) {
    const path = index % 2 === 0 ? '/dossiers' : `/invented/${index}`;
    ledger.finish(ledger.open({ ...call, method: 'GET', path }), index % 4 === 0 ? null : 200);
  }
  expect(ledger.calls().length).toBe(100_000);
  expect(ledger.calls().at(-1)?.sequence).toBe(150_000);
  expect(ledger.calls()[0]?.sequence).toBe(50_001);
  const counts = ledger.counts();
  expect(counts['GET /dossiers cut']).toBe(37_500);
  expect(Object.keys(counts).length).toBeLessThan(1_010);
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(150_000);
});
