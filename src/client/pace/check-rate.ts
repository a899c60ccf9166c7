import { ConfigError } from '../../errors.js';
import { rateSchema } from '../settings.js';
import { toProblems } from '../to-problems.js';

/** Throws ConfigError with everything that is wrong with a rate: nothing would ever leave at a rate of zero. */
export const checkRate = (rate: unknown): void => {
  const problems = toProblems('pace', rateSchema.safeParse(rate).error);
  if (problems.length > 0) throw new ConfigError(problems);
};
