import { expect, test } from 'vitest';
import { assessSpace } from '../../../src/cli/doctor/check-all.js';

test('a disk that is nearly full is told before the night', () => {
  expect([100, 1_500, 9_000].map((megabytes) => assessSpace('reports space', '/data', megabytes).state)).toEqual([
    'fail',
    'warn',
    'ok',
  ]);
});
