import { describe, expect, it } from 'vitest';
import { type Fault, FaultScript } from '../../../src/sandbox/trouble.js';

const search = (name: string) => ({ path: '/aml/search', method: 'POST', name });
const list = { path: '/dossiers', method: 'GET' };

describe('a fault script', () => {
  it('plays faults in order, each as often as it says', () => {
    const script = new FaultScript();
    script.replace([{ status: 503, times: 2 }, { delayMs: 5 }]);
    const taken = [1, 2, 3, 4].map(() => script.take(search('A')));
    expect(taken.map((fault) => fault && ('status' in fault ? fault.status : 'delay'))).toEqual([
      503,
      503,
      'delay',
      undefined,
    ]);
  });

  it('passes over faults for other paths and names and keeps their place', () => {
    const script = new FaultScript();
    script.replace([{ status: 500, path: '/dossiers' }, { status: 429, name: 'B' }, { status: 503 }]);
    expect(script.take(search('A'))).toMatchObject({ status: 503 });
    expect(script.take(search('A'))).toBeUndefined();
    expect(script.take(search('B'))).toMatchObject({ status: 429 });
    expect(script.take(list)).toMatchObject({ status: 500 });
  });

  it('reports operations of one path apart by their method', () => {
    const script = new FaultScript();
    script.replace([{ status: 503, path: '/dossiers', method: 'POST' }]);
    expect(script.take(list)).toBeUndefined();
    expect(script.take({ ...list, method: 'POST' })).toMatchObject({ status: 503 });
  });

  it('begins after the further calls it was asked to let pass', () => {
    const script = new FaultScript();
    script.replace([{ status: 402, afterCalls: 2, path: '/aml/search' }]);
    expect(script.take(list)).toBeUndefined();
    expect([1, 2, 3, 4].map(() => script.take(search('A')) !== undefined)).toEqual([false, false, true, false]);
  });

  it.each<Fault>([
    { status: 200 },
    { delayMs: -1 },
    { huge: { megabytes: 0 } },
    { redirect: { location: '' } },
    { status: 503, times: 0 },
    { status: 503, path: 'aml/search' },
  ])('refuses %o, which is none', (fault) => {
    expect(() => new FaultScript().replace([fault])).toThrow();
  });
});
