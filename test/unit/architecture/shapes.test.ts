import { expect, it } from 'vitest';
import { listFiles, readLiteralSpreads, readLongFunctions, readTypeNames } from './read-imports.js';

const files = [...listFiles('src'), ...listFiles('jobs')];

it('no two types share a name', () => {
  const homes = new Map<string, string[]>();
  for (const file of files) for (const name of readTypeNames(file)) homes.set(name, [...(homes.get(name) ?? []), file]);
  expect(homes.size).toBeGreaterThan(100);
  const shared = [...homes].filter(([, places]) => places.length > 1);
  expect(shared.map(([name, places]) => `${name}: ${places.join(', ')}`)).toEqual([]);
});

it('an object or a list is written plainly, without a spread of a literal that only suits the formatter', () => {
  expect([...files, ...listFiles('test')].filter((file) => readLiteralSpreads(file) > 0)).toEqual([]);
});

it('a function of a run fits one screen', () => {
  expect(listFiles('src/runs').flatMap((file) => readLongFunctions(file, 60))).toEqual([]);
});
