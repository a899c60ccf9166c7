import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { RunSettings } from '../workplace.js';

/** Throws ConfigError when searches would cost money and nobody has said how much may be spent; a test key needs no budget. */
export function requireBudget({ budget }: Pick<RunSettings, 'budget'>, mode: 'test' | 'live'): void {
  if (mode === 'test') return;
  const problems: ConfigProblem[] = [];
  const miss = (path: string, message: string): void => {
    problems.push({ where: 'settings', path, message });
  };
  if (budget.maxSearchesPerMonth === undefined) {
    miss('budget.maxSearchesPerMonth', 'is missing: a live key makes no search without a cap for the month');
  }
  if (budget.pricePerSearch === undefined) {
    miss('budget.pricePerSearch', 'is missing: a live key makes no search without the price of one');
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
