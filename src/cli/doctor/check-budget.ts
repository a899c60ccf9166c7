import { toKeyMode } from '../../client/calls/api-key.js';
import type { Config } from '../../config/load-config.js';
import { embeddedProblem, findBudgetProblems } from '../../runs/account.js';
import { type Finding, well, wrong } from './finding.js';

/** Whether a live key has the budget and the database without which it makes no search; nothing is said of a test key. */
export function checkBudget(config: Config): Finding[] {
  const key = config.secret('NIGHTSCREEN_API_KEY');
  const mode = config.settings.service.mode ?? (key === undefined ? 'unknown' : toKeyMode(key));
  if (mode !== 'live') return [];
  const isRefused = config.secret('DATABASE_URL') === undefined && !config.settings.database.acceptEmbedded;
  const problems = [...findBudgetProblems(config.settings), ...(isRefused ? [embeddedProblem] : [])];
  const { maxSearchesPerMonth, pricePerSearch, currency } = config.settings.budget;
  if (problems.length > 0) {
    return problems.map(({ path, message }) =>
      wrong('budget', `${path} ${message}`, `write it under \`${path.split('.')[0]}:\``),
    );
  }
  return [well('budget', `${maxSearchesPerMonth} searches a month at ${pricePerSearch} ${currency} each`)];
}
