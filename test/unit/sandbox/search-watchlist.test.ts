import { describe, expect, it } from 'vitest';
import { createSearch, MATCH_THRESHOLD } from '../../../src/sandbox/search-watchlist.js';
import { listed } from './world-samples.js';

const watchlist = [
  listed('p1', 'Yevgeny Aleksandrovich Morozkin', { aliases: ['Евгений Александрович Морозкин'] }),
  listed('p2', 'Søren Kjærulff'),
  listed('p3', 'Han Mi-rae', { aliases: ['한미래'] }),
  listed('p4', 'Abdulrahman al-Yaqouti', { aliases: ['عبد الرحمن الياقوتي'] }),
  listed('p5', 'Ana Quintela'),
  listed('e1', 'Kestrel Grain Limited', { schema: 'Company' }),
  listed('v1', 'Ana Quintela', { schema: 'Vessel' }),
];
const search = createSearch(watchlist);
const hits = (type: 'person' | 'entity', name: string): string[] =>
  search(type, name)
    .filter((result) => result.match)
    .map((result) => result.id);

describe('searching names', () => {
  it.each([
    ['another order and case', 'MOROZKIN, yevgeny aleksandrovich', 'p1'],
    ['a missing middle name', 'Yevgeny Morozkin', 'p1'],
    ['the Cyrillic spelling', 'Морозкин Евгений Александрович', 'p1'],
    ['another transliteration', 'Evgenij Aleksandrovitch Morozkin', 'p1'],
    ['missing accents', 'Soren Kjaerulff', 'p2'],
    ['a slip of one letter', 'Soren Kjerulff', 'p2'],
    ['native script without spaces', '한미래', 'p3'],
    ['native script with spaces', '한 미래', 'p3'],
    ['words written apart', 'Abdul Rahman Al Yaqouti', 'p4'],
    ['Arabic written together', 'عبدالرحمن الياقوتي', 'p4'],
    ['decomposed accents', 'So\u0308ren Kjærulff', 'p2'],
  ])('finds a person under %s', (_, name, id) => {
    expect(hits('person', name)).toEqual([id]);
  });

  it('finds an organisation under another legal form, and no person or vessel', () => {
    expect(hits('entity', 'Kestrel Grain Ltd.')).toEqual(['e1']);
    expect(search('entity', 'Ana Quintela')).toEqual([]);
    expect(search('person', 'Kestrel Grain Limited')).toEqual([]);
  });

  it.each(['Morozkin', 'Ana', 'Ana Belmonte', 'Yevgeny Lazarenko', 'Zephyr Umbridge', '...', '习'])(
    'lists nobody as a hit for "%s"',
    (name) => {
      expect(hits('person', name)).toEqual([]);
    },
  );

  it('gives the primary name when an alias was found, and a score of four digits', () => {
    const [best] = search('person', 'Морозкин Евгений');
    expect(best?.name).toBe('Yevgeny Aleksandrovich Morozkin');
    expect(String(best?.score)).toMatch(/^[01](\.\d{1,4})?$/);
  });

  it('flags exactly what scores at least the threshold', () => {
    for (const name of ['Ana Quintella', 'Anna Quintelo', 'Ana Quintela Duarte Reis', 'Anja Quintana']) {
      for (const result of search('person', name)) expect(result.match).toBe(result.score >= MATCH_THRESHOLD);
    }
  });
});

describe('ranking disturbances', () => {
  const twins = Array.from({ length: 12 }, (_, index) => listed(`t${String(index).padStart(2, '0')}`, 'Ana Quintela'));
  const names = ['Ana Quintela', 'Quintela Ana', 'Ana Quintella'];

  it('rank equal scores by id when nothing disturbs them', () => {
    expect(createSearch(twins)('person', 'Ana Quintela').map((result) => result.id)).toEqual(twins.map(({ id }) => id));
  });

  it('change order and scores, never who is listed or flagged', () => {
    const disturbed = createSearch(twins, { shuffleSeed: 7, scoreNoise: 0.004 });
    const clean = createSearch(twins);
    for (const name of names) {
      const noisy = disturbed('person', name);
      const plain = clean('person', name);
      expect(noisy.map(({ id, match }) => `${id} ${match}`).sort()).toEqual(
        plain.map(({ id, match }) => `${id} ${match}`).sort(),
      );
      expect(noisy.map(({ id }) => id)).not.toEqual(plain.map(({ id }) => id));
      for (const result of noisy) {
        const score = plain.find(({ id }) => id === result.id)?.score ?? 0;
        expect(Math.abs(result.score - score)).toBeLessThanOrEqual(0.0041);
      }
    }
  });

  it('shuffle equal scores by the seed, the same way each time', () => {
    const shuffled = createSearch(twins, { shuffleSeed: 7 });
    const order = shuffled('person', 'Ana Quintela').map(({ id }) => id);
    expect(order).not.toEqual(twins.map(({ id }) => id));
    expect(shuffled('person', 'Ana Quintela').map(({ id }) => id)).toEqual(order);
  });
});
