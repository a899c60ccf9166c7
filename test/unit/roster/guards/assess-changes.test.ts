import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ChangeTally } from '../../../../src/roster/change-guards.js';
import type { ComparedRecord } from '../../../../src/roster/compare-records.js';
import { guardsSchema } from '../../../../src/roster/guards.js';

const settings = { ...guardsSchema.parse({}), path: 'rosters[0].guards' };
const toRecord = (name: string, facts: Partial<NonNullable<ComparedRecord['parties'][0]>> = {}): ComparedRecord => ({
  riskTier: null,
  parties: [{ role: 'customer', type: 'person', name, birthDate: '1970-03-04', countries: ['dk'], ...facts }],
});

/** What holds when each of these records becomes the other one, among so many known customers. */
function assess(pairs: readonly (readonly [ComparedRecord, ComparedRecord])[], known: number): readonly string[] {
  const tally = new ChangeTally({ reread: [], rereadInWeek: [] });
  for (const [index, [before, next]] of pairs.entries()) {
    tally.add({ reference: `C-${index}`, hasAlerts: false, known: before, next, weekAgo: null });
  }
  const scale = { known, withAlerts: 0, hasBirthDates: true, namesAsIds: 0, movedTo: null };
  return tally.assess(scale, settings).map(({ message }) => message);
}

const word = fc.stringMatching(/^[a-zåéøüłşñç]{2,9}$/);
const names = fc.uniqueArray(
  fc.array(word, { minLength: 2, maxLength: 3 }).map((words) => words.join(' ')),
  {
    minLength: 30,
    maxLength: 60,
    selector: (name) =>
      name
        .normalize('NFKD')
        .replace(/[^a-z ]/g, '')
        .split(' ')
        .toSorted()
        .join(' '),
  },
);

it('case and accents never hold a roster, nor does the order of words of less than a third', () => {
  fc.assert(
    fc.property(names, (all) => {
      const spelt = all.map((name, at) => {
        const turned = at % 4 === 0 ? name.split(' ').toReversed().join(' ') : name;
        return turned
          .normalize('NFD')
          .replace(/[\u0300-\u036f]/g, '')
          .toUpperCase();
      });
      const pairs = all.map((name, at) => [toRecord(name), toRecord(spelt[at] ?? '')] as const);
      expect(assess(pairs, all.length)).toEqual([]);
    }),
  );
});

it('names that five customers or more have exchanged always hold a roster, however many others are as they were', () => {
  fc.assert(
    fc.property(
      names,
      fc.integer({ min: 5, max: 30 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (all, moved, others) => {
        const pairs = all
          .slice(0, moved)
          .map((name, at, some) => [toRecord(name), toRecord(some[(at + 1) % some.length] ?? '')] as const);
        expect(assess(pairs, all.length + others)).toContainEqual(expect.stringContaining('moved against the ids'));
      },
    ),
  );
});

it('fewer than five changed customers are never a shape', () => {
  fc.assert(
    fc.property(names, fc.integer({ min: 0, max: 4 }), (all, changed) => {
      const pairs = all
        .slice(0, changed)
        .map(
          (name) => [toRecord(name), toRecord(name.slice(0, 4), { type: 'entity', birthDate: '1970-04-03' })] as const,
        );
      expect(assess(pairs, all.length)).toEqual([]);
    }),
  );
});

it('birth dates that were not known are no change, unless most of them are the same one now', () => {
  const toDate = (at: number): string => new Date(Date.UTC(1950, 0, 1 + 97 * at)).toISOString().slice(0, 10);
  const fill = (to: (at: number) => string, from: string | null = null) =>
    Array.from({ length: 60 }, (_, at) => {
      const director = { role: 'director', type: 'person', name: `Dee Dogwood ${at}`, countries: [] };
      const toParties = (birthDate: string | null): ComparedRecord => ({
        riskTier: null,
        parties: [...toRecord(`Ann Alder ${at}`, { birthDate }).parties, { ...director, birthDate }],
      });
      return [toParties(from), toParties(to(at))] as const;
    });
  expect(assess(fill(toDate), 1_000)).toEqual([]);
  expect(
    assess(
      fill((at) => `1970-${String((at % 12) + 1).padStart(2, '0')}`, '1970'),
      1_000,
    ),
  ).toEqual([]);
  expect(
    assess(
      fill(() => '1970-01-01'),
      1_000,
    ),
  ).toEqual([expect.stringContaining('have the same one now, 1970-01-01')]);
  expect(assess(fill(toDate, '1949-12-31'), 1_000)).toEqual([
    expect.stringContaining('have another name, type, birth date'),
  ]);
});
