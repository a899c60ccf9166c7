import fc from 'fast-check';
import { expect, it } from 'vitest';
import { corroborate } from '../../../src/changes/corroboration.js';

const birth = (ours: string | null, ...listed: string[]) =>
  corroborate({ birthDate: ours, countries: [] }, { birthDates: listed, countries: [] }).birthDate;

it.each([
  ['the same day', '1961-04-09', ['1961-04-09'], 'agree'],
  ['one of several', '1961-04-09', ['1950-02-03', '1961-04-09'], 'agree'],
  ['only the year is listed', '1961-04-09', ['1961'], 'agree'],
  ['only our year is known', '1961', ['1961-04-09'], 'agree'],
  ['only the month is listed', '1961-04-09', ['1961-04'], 'agree'],
  ['1 January stands for a year', '1961-04-09', ['1961-01-01'], 'agree'],
  ['a date with a time', '1961-04-09', ['1961-04-09T00:00:00Z'], 'agree'],
  ['a year that is off by one', '1961-04-09', ['1962'], 'unknown'],
  ['day and month exchanged', '1961-04-09', ['1961-09-04'], 'unknown'],
  ['another day of the month', '1961-04-09', ['1961-04-10'], 'unknown'],
  ['the same day ten years later', '1961-04-09', ['1971-04-09'], 'unknown'],
  ['nothing listed', '1961-04-09', [], 'unknown'],
  ['nothing known of ours', null, ['1961-04-09'], 'unknown'],
  ['words', '1961-04-09', ['about 1950'], 'unknown'],
  ['words beside another year', '1961-04-09', ['1950', 'unclear'], 'unknown'],
  ['another year', '1961-04-09', ['1950'], 'contradict'],
  ['another day and month', '1961-04-09', ['1961-07-23'], 'contradict'],
  ['the year before and another month', '1961-04-09', ['1960-12-09'], 'contradict'],
  ['other years throughout', '1961-04-09', ['1950', '1971-03-02'], 'contradict'],
] as const)('%s', (_title, ours, listed, verdict) => {
  expect(birth(ours, ...listed)).toBe(verdict);
});

it('a country in common agrees, none in common contradicts, none known is unknown', () => {
  const compare = (ours: string[], listed: string[]) =>
    corroborate({ birthDate: null, countries: ours }, { birthDates: [], countries: listed }).country;
  expect(compare(['fr', 'de'], ['DE', 'ru'])).toBe('agree');
  expect(compare(['fr'], ['ru'])).toBe('contradict');
  expect(compare([], ['ru'])).toBe('unknown');
  expect(compare(['fr'], [])).toBe('unknown');
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
  [['suhh'], ['su'], 'agree'],
  [['suhh'], ['ru'], 'unknown'],
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
