import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderHits, toDetailRecord } from '../../../../src/runs/screening/details.js';
import type { NewHit } from '../../../../src/store/night/match-details.js';
import { agreements, severities } from '../../../../src/vocabulary.js';

const hit = (matchId: string, facts: Partial<NewHit> = {}): NewHit => ({
  matchId,
  severity: 'medium',
  isSanctionHit: false,
  isBaseline: false,
  corroboration: { birthDate: 'unknown', country: 'unknown' },
  score: 0.9,
  ...facts,
});

it('sanctions come first, then what is new tonight, then by priority', () => {
  const hits = [
    hit('pep of a first screening', { isBaseline: true, severity: 'high' }),
    hit('pep'),
    hit('wanted', { severity: 'high' }),
    hit('sanction of a first screening', { isBaseline: true, isSanctionHit: true, severity: 'critical' }),
    hit('sanction', { isSanctionHit: true, severity: 'high' }),
  ];
  expect(orderHits(hits)).toEqual([
    'sanction',
    'sanction of a first screening',
    'wanted',
    'pep',
    'pep of a first screening',
  ]);
});

it('each match comes once, by the weightiest of its hits, whatever their order', () => {
  const anyHit = fc.record({
    matchId: fc.constantFrom('a', 'b', 'c', 'd'),
    severity: fc.constantFrom(...severities),
    isSanctionHit: fc.boolean(),
    isBaseline: fc.boolean(),
    corroboration: fc.record({ birthDate: fc.constantFrom(...agreements), country: fc.constantFrom(...agreements) }),
    score: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(anyHit), fc.infiniteStream(fc.nat()), (hits, keys) => {
      const shuffled = hits
        .map((each) => ({ each, key: keys.next().value }))
        .toSorted((one, other) => Number(one.key) - Number(other.key))
        .map(({ each }) => each);
      const ordered = orderHits(hits);
      expect(orderHits(shuffled)).toEqual(ordered);
      expect([...ordered].sort()).toEqual([...new Set(hits.map(({ matchId }) => matchId))].sort());
    }),
  );
});

it('only ids of the two forms are records', () => {
  expect(toDetailRecord('amla_7fK')).toEqual({ kind: 'activity', id: 'amla_7fK' });
  expect(toDetailRecord('aml_7fK')).toEqual({ kind: 'entity', id: 'aml_7fK' });
  for (const id of ['', 'NK-7fK', 'amla_', 'aml_a/b', 'xaml_a', 'AMLA_a', 'aml_a\n', `aml_${'a'.repeat(201)}`]) {
    expect(toDetailRecord(id)).toBeUndefined();
  }
});
