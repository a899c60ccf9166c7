import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessVanished, type VanishedFigures, VanishedTally } from '../../../src/changes/assess-vanished.js';
import { topicFamiliesSchema } from '../../../src/changes/severity.js';
import type { Match } from '../../../src/matches/match.js';
import { toHoldBounds } from '../../../src/screening/settings.js';
import { makeMatch } from '../../helpers/run-facts.js';

const families = topicFamiliesSchema.parse({});
const bounds = toHoldBounds();

const hit = (number: number, facts: Partial<Match> = {}): Match =>
  makeMatch({ id: `id-${number}`, name: `Listed Party ${number}`, isHit: true, topics: ['sanction'], ...facts });

/** One party for each pair of answers. */
function tallyOf(answers: readonly (readonly [readonly Match[], readonly Match[] | null])[]): VanishedTally {
  const tally = new VanishedTally(families);
  for (const [before, after] of answers) tally.add({ before, after, isCompared: true });
  return tally;
}

const figuresOf = (answers: readonly (readonly [readonly Match[], readonly Match[] | null])[]) =>
  new Map(
    tallyOf(answers)
      .figures()
      .map(({ family, known, vanished }) => [family, [known, vanished]]),
  );

describe('known hits', () => {
  it('are counted by listed party, whoever has them', () => {
    const answers = Array.from({ length: 30 }, () => [[hit(1)], []] as const);
    expect(figuresOf([...answers, [[hit(2)], null]]).get('sanction')).toEqual([2, 1]);
  });

  it('have vanished when half of those searched no longer find them', () => {
    const kept = [[hit(1)], [hit(1)]] as const;
    const lost = [[hit(1)], []] as const;
    expect(figuresOf([kept, kept, lost]).get('any')).toEqual([1, 0]);
    expect(figuresOf([kept, lost]).get('any')).toEqual([1, 1]);
  });

  it('have not vanished under another id, or where a new entry of the same name takes their place', () => {
    const rekeyed = [[hit(1)], [hit(1, { id: 'new' })]] as const;
    const rewritten = [[hit(3)], [hit(3, { id: 'new', birthDates: ['1971-02-03'] })]] as const;
    expect(figuresOf([rekeyed, rewritten]).get('any')).toEqual([2, 0]);
  });

  it('have vanished from one of two lists, whatever the other says of the same name', () => {
    const both = [hit(1), hit(1, { id: 'other list' })];
    const apart = [hit(2), hit(2, { id: 'other list', birthDates: ['1971-02-03'] })];
    for (const before of [both, apart]) {
      for (const after of before) expect(figuresOf([[before, [after]]]).get('sanction')).toEqual([2, 1]);
    }
  });

  it('have vanished without their flag, and from a family without its topic', () => {
    expect(figuresOf([[[hit(1)], [hit(1, { isHit: false })]]]).get('any')).toEqual([1, 1]);
    const both = ['sanction', 'role.pep'];
    const figures = figuresOf([[[hit(1, { topics: both })], [hit(1, { topics: ['role.pep'] })]]]);
    expect([figures.get('any'), figures.get('sanction'), figures.get('pep')]).toEqual([
      [1, 0],
      [1, 1],
      [1, 0],
    ]);
  });

  it('of no topic or of an unknown one are counted by themselves', () => {
    const figures = figuresOf([[[hit(1, { topics: [] }), hit(2, { topics: ['novelty'] })], []]]);
    expect([...figures.keys()]).toEqual(['any', 'unknown']);
    expect(figures.get('unknown')).toEqual([2, 2]);
  });

  it('of other searches are known, and say nothing of what has vanished', () => {
    const tally = new VanishedTally(families);
    tally.add({ before: [hit(1)], after: [], isCompared: false });
    expect(tally.figures()).toEqual([
      { family: 'any', known: 0, vanished: 0, current: 1 },
      { family: 'sanction', known: 0, vanished: 0, current: 1 },
    ]);
  });
});

const count = fc.integer({ min: 0, max: 3_000 });
const figures = fc
  .tuple(count, count, count)
  .map((numbers) => numbers.toSorted((left, right) => left - right))
  .map(([vanished = 0, known = 0, current = 0]): VanishedFigures => ({ family: 'any', known, vanished, current }));
const isHeld = (one: VanishedFigures, before = 0): boolean => assessVanished([one], { any: before }, bounds).length > 0;

describe('a run', () => {
  it('is held by the bounds and by nothing else', () => {
    fc.assert(
      fc.property(figures, fc.integer({ min: 0, max: 500 }), (one, before) => {
        const { known, vanished, current } = one;
        const share = vanished / known;
        const inRun = vanished >= 5 && share >= (known >= 500 ? 0.05 : 0.1);
        const all = known >= 2 && vanished === known;
        const inWeek = before + vanished >= 5 && (before + vanished) / (current + before) >= 0.15;
        // To the last digit, as shares of whole numbers are no exact fractions.
        fc.pre(
          [share - 0.05, share - 0.1, (before + vanished) / (current + before) - 0.15].every(
            (gap) => !(Math.abs(gap) < 1e-9),
          ),
        );
        expect(isHeld(one, before)).toBe(vanished > 0 && (inRun || all || inWeek));
      }),
    );
  });

  it.each([
    [1, 1, false],
    [2, 2, true],
    [49, 4, false],
    [50, 5, true],
    [60, 5, false],
    [499, 49, false],
    [500, 25, true],
    [500, 24, false],
    [2_000, 60, false],
  ])('with %i known hits of which %i vanish: held is %s', (known, vanished, held) => {
    expect(isHeld({ family: 'any', known, vanished, current: known })).toBe(held);
  });

  it('that holds with so many vanished hits holds with more of the same', () => {
    fc.assert(
      fc.property(figures, fc.integer({ min: 0, max: 500 }), fc.nat(100), (one, before, more) => {
        const worse = { ...one, vanished: Math.min(one.known, one.vanished + more) };
        expect(isHeld(one, before) && !isHeld(worse, before)).toBe(false);
      }),
    );
  });

  it('is held for one lost list, whatever else is whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 0, max: 2_000 }), (lost, whole) => {
        const answers = [
          ...Array.from({ length: lost }, (_, index) => [[hit(index, { topics: ['crime'] })], []] as const),
          ...Array.from({ length: whole }, (_, index) => [[hit(10_000 + index)], null] as const),
        ];
        const found = assessVanished(tallyOf(answers).figures(), {}, bounds);
        expect(found.map(({ family }) => family)).toContain('crime');
      }),
      { numRuns: 20 },
    );
  });

  it('is not held when every id is new, whatever the order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 40 }), (numbers) => {
        const before = numbers.map((number) => hit(number));
        const after = before.map((match) => ({ ...match, id: `new ${match.id}` })).toReversed();
        expect(assessVanished(tallyOf([[before, after]]).figures(), {}, bounds)).toEqual([]);
      }),
    );
  });
});
