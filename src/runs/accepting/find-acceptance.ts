import { flagError } from '../../errors.js';
import type { Database } from '../../store/database/database.js';
import { findReviewer } from '../reviewing/find-reviewer.js';
import type { Acceptance } from './acceptance.js';

/** Who accepts and why, as the flags say; on Postgres the login says who. Throws ConfigError naming the flag that is missing. */
export async function findAcceptance(
  database: Database,
  { by, reason = '' }: { by?: string | undefined; reason?: string | undefined },
): Promise<Acceptance> {
  if (reason.trim() === '') {
    const message = 'is missing: what is accepted is kept with who accepted it and why';
    throw flagError('--reason', message);
  }
  return { by: await findReviewer(database, by, false, '--by'), reason: reason.trim() };
}
