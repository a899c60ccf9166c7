import { expect, test } from 'vitest';
import { subtract } from '../../../src/cli/commands/demo.js';

test('a change that was found twice but expected once is unexpected once', () => {
  expect(subtract(['a', 'a', 'b'], ['a'])).toEqual(['a', 'b']);
  expect(subtract(['a'], ['a', 'c'])).toEqual([]);
});
