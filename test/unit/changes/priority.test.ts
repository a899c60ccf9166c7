import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toPriority } from '../../../src/changes/change-event.js';
import { agreements, severities } from '../../../src/vocabulary.js';

const agreement = fc.constantFrom(...agreements);
const subject: fc.Arbitrary<Parameters<typeof toPriority>[0]> = fc.record({
  severity: fc.constantFrom(...severities),
  isHit: fc.boolean(),
  corroboration: fc.record({ birthDate: agreement, country: agreement }),
  score: fc.double({ min: 0, max: 1, noNaN: true }),
});

it('severity decides before all else, then a hit, and each fact moves it one way only', () => {
  fc.assert(
    fc.property(subject, subject, (one, other) => {
      const [first, second] = [one, other].map(({ severity }) => severities.indexOf(severity));
      if (first !== undefined && second !== undefined && first < second) {
        expect(toPriority(one)).toBeGreaterThan(toPriority(other));
      }
      expect(toPriority({ ...one, isHit: true })).toBeGreaterThan(toPriority({ ...one, isHit: false }));
      const born = (birthDate: (typeof agreements)[number]) =>
        toPriority({ ...one, corroboration: { ...one.corroboration, birthDate } });
      expect(born('agree')).toBeGreaterThan(born('unknown'));
      expect(born('unknown')).toBeGreaterThan(born('contradict'));
      expect(toPriority({ ...one, score: 1 })).toBeGreaterThanOrEqual(toPriority(one));
    }),
  );
});

it('stays within 0 and 999, whatever score a service sends', () => {
  fc.assert(
    fc.property(subject, fc.double({ noNaN: true }), (one, score) => {
      const priority = toPriority({ ...one, score });
      expect(priority).toBeGreaterThanOrEqual(0);
      expect(priority).toBeLessThanOrEqual(999);
    }),
  );
});
