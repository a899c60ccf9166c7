import { describe, expect, it } from 'vitest';
import { type Conditions, ConditionsControl } from '../../../src/sandbox/trouble.js';

const call = (atMs = 0, privateKey: string | undefined = 'key', path = '/aml/search') => ({ path, atMs, privateKey });
const stationWith = (conditions: Conditions) => {
  const station = new ConditionsControl();
  station.replace(conditions);
  return station;
};

describe('the weather', () => {
  it('lets every call pass at once while it is fair', () => {
    const station = new ConditionsControl();
    expect(station.assess(call())).toEqual({ kind: 'pass' });
    expect(station.drawLatencyMs('/aml/search')).toBe(0);
  });

  it('limits each private key for itself, and no call that a key does not open', () => {
    const station = stationWith({ limit: { perSecond: 1 } });
    const kinds = ['a', 'b', 'a', 'b'].map((key) => station.assess(call(0, key)).kind);
    expect(kinds).toEqual(['pass', 'pass', 'refuse', 'refuse']);
    const withoutKey = { path: '/sessions', atMs: 0, privateKey: undefined };
    expect([1, 2, 3].map(() => station.assess(withoutKey).kind)).toEqual(['pass', 'pass', 'pass']);
  });

  it('says in whole seconds when there is room again, only when it was asked to', () => {
    const refuseSecond = (conditions: Conditions) => {
      const station = stationWith(conditions);
      station.assess(call(0));
      return station.assess(call(300));
    };
    expect(refuseSecond({ limit: { perSecond: 1, retryAfter: true } })).toMatchObject({
      refusal: { status: 429, retryAfter: '1' },
    });
    expect(refuseSecond({ limit: { perSecond: 1 } })).toMatchObject({ refusal: { retryAfter: undefined } });
  });

  it('refuses about the share it was told to, the same calls for the same seed', () => {
    const kindsOf = (seed: number): string[] => {
      const station = stationWith({ refuse: { share: 0.3, seed } });
      return Array.from({ length: 10_000 }, () => station.assess(call()).kind);
    };
    const kinds = kindsOf(7);
    const share = kinds.filter((kind) => kind === 'refuse').length / kinds.length;
    expect(Math.abs(share - 0.3)).toBeLessThan(0.015);
    expect(kindsOf(7)).toEqual(kinds);
    expect(kindsOf(8)).not.toEqual(kinds);
  });

  it('refuses everything at a share of 1 and nothing at a share of 0', () => {
    const refused = (share: number): number => {
      const station = stationWith({ refuse: { share } });
      return Array.from({ length: 1_000 }, () => station.assess(call()).kind).filter((kind) => kind === 'refuse')
        .length;
    };
    expect([refused(0), refused(1)]).toEqual([0, 1_000]);
  });

  it('puts an outage before the limit and the limit before chance', () => {
    const all: Conditions = { outage: { status: 500 }, limit: { perSecond: 1 }, refuse: { share: 1, status: 502 } };
    expect(stationWith(all).assess(call())).toMatchObject({ refusal: { status: 500 } });
    const { outage: _outage, ...rest } = all;
    const station = stationWith(rest);
    expect(station.assess(call())).toMatchObject({ refusal: { status: 502 } });
    expect(station.assess(call())).toMatchObject({ refusal: { status: 429 } });
  });

  it('concerns only its path, when it names one', () => {
    const station = stationWith({ path: '/dossiers', outage: {}, latencyMs: { min: 5, max: 5 } });
    expect(station.assess(call()).kind).toBe('pass');
    expect(station.drawLatencyMs('/aml/search')).toBe(0);
    expect(station.assess(call(0, 'key', '/dossiers'))).toMatchObject({ refusal: { status: 503 } });
    expect(station.drawLatencyMs('/dossiers')).toBe(5);
  });

  it.each<Conditions>([
    { limit: { perSecond: 0 } },
    { refuse: { share: 1.1 } },
    { outage: { status: 200 } },
    { latencyMs: { min: 9, max: 8 } },
    { path: 'dossiers' },
  ])('refuses %o and stays as it was', (conditions) => {
    const station = stationWith({ outage: {} });
    expect(() => station.replace(conditions)).toThrow();
    expect(station.assess(call()).kind).toBe('refuse');
  });
});
