import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedParty } from '../../../../src/lists/list-file.js';
import { toShare } from '../../../../src/runs/checks/assurance.js';
import { allot, createSeededRandom, drawSample, varyName } from '../../../../src/runs/checks/sample.js';

describe('the interval of a share', () => {
  it('holds the share, lies within 0 and 1, and narrows with more trials', () => {
    const trials = fc
      .integer({ min: 1, max: 10_000 })
      .chain((all) => fc.tuple(fc.integer({ min: 0, max: all }), fc.constant(all)));
    fc.assert(
      fc.property(trials, ([successes, all]) => {
        const one = toShare(successes, all);
        const more = toShare(successes * 4, all * 4);
        if (!one || !more) return false;
        const isOrdered = 0 <= one.low && one.low <= one.share && one.share <= one.high && one.high <= 1;
        return isOrdered && more.high - more.low < one.high - one.low;
      }),
    );
    expect(toShare(0, 0)).toBeNull();
  });

  it('is the one in the books', () => {
    const { low = 0, high = 0 } = toShare(188, 200) ?? {};
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.8981', '0.9653']);
  });
});

describe('a sample', () => {
  const parties: ListedParty[] = [
    ...Array.from(
      { length: 300 },
      (_, at): ListedParty => ({
        id: `${at}`,
        type: 'person',
        name: `Erika Muster${at}`,
        aliases: at < 5 ? [`Эрика ${at}`] : ['Ada'],
      }),
    ),
    ...Array.from(
      { length: 100 },
      (_, at): ListedParty => ({ id: `e${at}`, type: 'entity', name: `Muster ${at} AG`, aliases: [] }),
    ),
    { id: 'ship', type: 'entity', isVehicle: true, name: 'NORDWIND', aliases: [] },
    { id: 'unknown', type: null, name: 'Wer Weiss', aliases: [] },
  ];
  const settings = { size: 40, seed: 'a', spelling: 'as_listed', type: undefined } as const;

  it('is the same for the same seed and another for another', () => {
    expect(drawSample(parties, settings)).toEqual(drawSample(parties, settings));
    expect(drawSample(parties, { ...settings, seed: 'b' })).not.toEqual(drawSample(parties, settings));
  });

  it('has its size, nobody twice, and every type and script in it', () => {
    const names = drawSample(parties, settings);
    expect(names).toHaveLength(40);
    expect(new Set(names.map(({ type, listedName }) => `${type} ${listedName}`)).size).toBe(40);
    const strata = new Map<string, number>();
    for (const { type, script } of names) strata.set(`${type} ${script}`, (strata.get(`${type} ${script}`) ?? 0) + 1);
    expect(Object.fromEntries(strata)).toEqual({ 'entity Latin': 10, 'person Cyrillic': 1, 'person Latin': 29 });
  });

  it('leaves out vessels, and names of no known type unless one is given', () => {
    const all = { ...settings, size: 1_000 };
    expect(drawSample(parties, all)).toHaveLength(405);
    expect(drawSample(parties, { ...all, type: 'person' })).toHaveLength(406);
  });

  it('is divided among strata without a name more or less, and at least one each where there is room', () => {
    const strata = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(strata, fc.integer({ min: 12, max: 600 }), (sizes, size) => {
        const allotted = allot(sizes, size);
        const total = sizes.reduce((sum, names) => sum + names, 0);
        const isWhole = allotted.reduce((sum, names) => sum + names, 0) === Math.min(size, total);
        return isWhole && allotted.every((names, at) => names >= 1 && names <= (sizes[at] ?? 0));
      }),
    );
  });
});

it('a varied name is another spelling of the same words, and its first letters stay', () => {
  const word = fc.stringMatching(/^[A-Z][a-z]{2,9}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), fc.string(), (words, seed) => {
      const name = words.join(' ');
      const varied = varyName(name, createSeededRandom(seed));
      const initials = (text: string): string =>
        [...text.matchAll(/\b[A-Z]/g)]
          .map(([letter]) => letter)
          .sort()
          .join('');
      const isShorter = varied.variant === 'shortened';
      return (
        (varied.variant === 'as_listed') === (varied.name === name) &&
        (isShorter || initials(varied.name) === initials(name))
      );
    }),
  );
});
