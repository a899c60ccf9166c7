import { ConfigError } from '../../errors.js';
import type { Database } from '../../store/database/database.js';
import type { Reviewer } from '../reviewing/decide-items.js';

/** Somebody's word, and why. */
export interface Acceptance {
  by: Reviewer;
  reason: string;
}

/** Throws ConfigError where two people are needed and a second one would be no more than another name that the first one types. */
export function requireLogins({ dialect }: Pick<Database, 'dialect'>, what: string): void {
  if (dialect === 'postgres') return;
  const message = `${what} takes two people (review.fourEyes), and the embedded database knows nobody's login: set DATABASE_URL`;
  throw new ConfigError([{ where: 'DATABASE_URL', path: '', message }]);
}
