import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { RunSettings, Workplace } from '../workplace.js';

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

/** What a live key says where the database is the embedded one and nobody has accepted that. */
export const embeddedProblem: ConfigProblem = {
  where: 'settings',
  path: 'database.acceptEmbedded',
  message:
    'is false: a live key makes no search with the embedded database, which is one disk of one host without a replica; set DATABASE_URL, or set it to true',
};

/**
 * Throws ConfigError when searches would cost money and nobody has said how much may be spent, or that the embedded database is good enough
 * to keep what they find; a test key needs neither.
 */
export function requireBudget(
  { settings, database, acceptsEmbedded }: Pick<Workplace, 'settings' | 'database' | 'acceptsEmbedded'>,
  mode: 'test' | 'live',
): void {
  if (mode !== 'live') return;
  const isRefused = database.dialect === 'embedded' && acceptsEmbedded === false;
  const problems = [...findBudgetProblems(settings), ...(isRefused ? [embeddedProblem] : [])];
  if (problems.length > 0) throw new ConfigError(problems);
}
