import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { RunSettings } from '../workplace.js';

/** What a budget lacks before a live key may search: a cap for the month and a price. */
export function findBudgetProblems({ budget }: Pick<RunSettings, 'budget'>): readonly ConfigProblem[] {
  const { maxSearchesPerMonth, pricePerSearch } = budget;
  const problems: ConfigProblem[] = [];
  const miss = (path: string, message: string): void => {
    problems.push({ where: 'settings', path, message });
  };
  if (maxSearchesPerMonth === undefined) {
    miss('budget.maxSearchesPerMonth', 'is missing: a live key makes no search without a cap for the month');
  }
  if (pricePerSearch === undefined) {
    miss('budget.pricePerSearch', 'is missing: a live key makes no search without the price of one');
  } else if (pricePerSearch === 0) {
    miss('budget.pricePerSearch', 'is 0: searches by a live key are billed, and a plan is told in money');
  }
  return problems;
}

/** Throws ConfigError when searches would cost money and nobody has said how much may be spent; a test key needs no budget. */
export function requireBudget(settings: Pick<RunSettings, 'budget'>, mode: 'test' | 'live'): void {
  const problems = mode === 'live' ? findBudgetProblems(settings) : [];
  if (problems.length > 0) throw new ConfigError([...problems]);
}
