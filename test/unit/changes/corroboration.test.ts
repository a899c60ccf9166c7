import fc from 'fast-check';
import { expect, it } from 'vitest';
import { corroborate } from '../../../src/changes/corroboration.js';

const birth = (ours: string | null, ...listed: string[]) =>
  corroborate({ birthDate: ours, countries: [] }, { birthDates: listed, countries: [] }).birthDate;

it.each([
  ['a date with a time', '1961-04-09', ['1961-04-09T00:00:00Z'], 'agree'],
  ['the year before and another month', '1961-04-09', ['1960-12-09'], 'contradict'],
  ['a month that is none', '1961-04-09', ['1950-13-01'], 'unknown'],
  ['a day that is none', '1961-04-09', ['1950-01-32'], 'unknown'],
  ['a span of years in words', '1961-04-09', ['1950 to 1965'], 'unknown'],
  ['a year with a remark', '1961-04-09', ['1950 (approximately)'], 'unknown'],
] as const)('%s', (_title, ours, listed, verdict) => {
  expect(birth(ours, ...listed)).toBe(verdict);
});

it('a date or a country that may be another one agrees at most, and never contradicts', () => {
  expect(birth('1961-04-09?', '1961-04-09')).toBe('agree');
  expect(birth('1961-04-09?', '1861-04-09')).toBe('unknown');
  const date = fc
    .tuple(fc.integer({ min: 1850, max: 2026 }), fc.integer({ min: 1, max: 12 }))
    .map(([year, month]) => `${year}-${String(month).padStart(2, '0')}-17`);
  const country = fc.constantFrom('ru', 'ua', 'us', 'su', 'suhh', 'yu', 'cs', 'rs', 'zz', 'de', 'dd');
  const open = fc.constantFrom('suhh', 'yucs', 'cshh', 'csxx', 'anhh', 'zz');
  fc.assert(
    fc.property(date, fc.array(date), fc.array(country), fc.array(country), open, (ours, listed, own, theirs, any) => {
      const guess = { birthDate: `${ours}?`, countries: [...own, any] };
      const found = corroborate(guess, { birthDates: listed, countries: theirs });
      expect(Object.values(found)).not.toContain('contradict');
      const unread = corroborate({ birthDate: null, countries: ['zz'] }, { birthDates: listed, countries: theirs });
      expect(unread).toEqual({ birthDate: 'unknown', country: 'unknown' });
    }),
  );
});

it.each([
  [['ru'], ['suhh'], 'unknown'],
  [['de'], ['dd'], 'agree'],
  [['cd'], ['zrcd'], 'agree'],
  [['yucs'], ['fr'], 'unknown'],
  [['de'], ['fr'], 'contradict'],
] as const)('of %j and %j countries %s', (ours, listed, verdict) => {
  const party = { birthDate: null, countries: ours };
  expect(corroborate(party, { birthDates: [], countries: listed }).country).toBe(verdict);
});

it('the order of what is listed makes no difference, and one more date never turns agreement into anything else', () => {
  const date = fc
    .date({ min: new Date('1930-01-01'), max: new Date('2005-01-01'), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10));
  const partial = fc.tuple(date, fc.constantFrom(4, 7, 10)).map(([day, length]) => day.slice(0, length));
  fc.assert(
    fc.property(partial, fc.array(partial, { maxLength: 4 }), partial, (ours, listed, further) => {
      expect(birth(ours, ...listed.toReversed())).toBe(birth(ours, ...listed));
      expect(birth(ours, ...listed, ours)).toBe('agree');
      if (birth(ours, ...listed) === 'agree') expect(birth(ours, ...listed, further)).toBe('agree');
    }),
  );
});
