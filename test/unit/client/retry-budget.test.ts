import { expect, test } from 'vitest';
import { RetryBudget } from '../../../src/client/calls.js';
import { printFigure } from '../../helpers/figures.js';

test.each([
  [0.1, 1.15],
  [0.3, 1.5],
  [0.5, 1.51],
  [1, 1.51],
])('with %d of the calls failing at random a search costs at most %d calls', (failing, most) => {
  let state = 5;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const budget = new RetryBudget();
  const searches = 20_000;
  let calls = 0;
  let unanswered = 0;
  for (let search = 0; search < searches; search += 1) {
    budget.earn();
    for (let attempt = 1; ; attempt += 1) {
      calls += 1;
      if (random() >= failing) break;
      if (attempt < 6 && budget.take()) continue;
      unanswered += 1;
      break;
    }
  }
  printFigure(
    `retry budget: ${(failing * 100).toFixed(0)} % failing, ${(calls / searches).toFixed(3)} calls per search, ${unanswered} of ${searches} left for later`,
  );
  expect(calls / searches).toBeLessThanOrEqual(most);
  expect(calls / searches).toBeGreaterThan(1);
});
