import { expect, test } from 'vitest';
import { assessSpace } from '../../../src/cli/doctor/machine.js';

test('a disk that is nearly full is reported before the night', () => {
  expect([100, 1_500, 9_000].map((megabytes) => assessSpace('reports space', '/data', megabytes).state)).toEqual([
    'fail',
    'warn',
    'ok',
  ]);
});
