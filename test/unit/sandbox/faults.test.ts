import { describe, expect, it } from 'vitest';
import { createFaultScript } from '../../../src/sandbox/faults.js';

describe('a fault script', () => {
  it('plays faults in order, each as often as it says', () => {
    const script = createFaultScript();
    script.replace([{ status: 503, times: 2 }, { delayMs: 5 }]);
    const taken = [1, 2, 3, 4].map(() => script.take('/aml/search', 'A'));
    expect(taken.map((fault) => fault && ('status' in fault ? fault.status : 'delay'))).toEqual([
      503,
      503,
      'delay',
      undefined,
    ]);
  });

  it('passes over faults for other paths and names and keeps their place', () => {
    const script = createFaultScript();
    script.replace([{ status: 500, path: '/dossiers' }, { status: 429, name: 'B' }, { status: 503 }]);
    expect(script.take('/aml/search', 'A')).toMatchObject({ status: 503 });
    expect(script.take('/aml/search', 'A')).toBeUndefined();
    expect(script.take('/aml/search', 'B')).toMatchObject({ status: 429 });
    expect(script.take('/dossiers', undefined)).toMatchObject({ status: 500 });
  });

  it('begins after the further calls it was told to let pass', () => {
    const script = createFaultScript();
    script.replace([{ status: 402, afterCalls: 2, path: '/aml/search' }]);
    expect(script.take('/dossiers', undefined)).toBeUndefined();
    expect([1, 2, 3, 4].map(() => script.take('/aml/search', 'A') !== undefined)).toEqual([false, false, true, false]);
  });

  it('refuses a fault that is none', () => {
    const script = createFaultScript();
    expect(() => script.replace([{ status: 200 }])).toThrow();
    expect(() => script.replace([{ delayMs: -1 }])).toThrow();
  });
});
