import { flagError } from '../../errors.js';
import type { Database } from '../../store/database/database.js';
import { findLogin } from '../../store/database/postgres.js';
import { isKnownReviewer } from '../../store/review/waiting.js';
import type { Reviewer } from './decide-items.js';

/**
 * Who decides; for a preview, which stores nothing, nobody needs a name. On Postgres the login, and nobody in another name; on the embedded database whoever `name` says, attested and not authenticated.
 * Throws ConfigError, about the flag by which the name is given, when a name is missing, or given where the login says it.
 */
export async function findReviewer(
  database: Database,
  name: string | undefined,
  isPreview = false,
  flag = '--reviewer',
): Promise<Reviewer> {
  const login = await findLogin(database);
  if (login === null) {
    if (isPreview && name === undefined) return { name: 'preview', isAttested: true };
    if (name !== undefined && name.trim() !== '') return { name: name.trim(), isAttested: true };
    throw flagError(
      flag,
      'is missing: on the embedded database nothing else says who it is, and the name is kept as attested',
    );
  }
  if (name === undefined || name === login) return { name: login, isAttested: false };
  throw flagError(
    flag,
    `is ${name}, and the database login is ${login}: on Postgres everybody decides under their own login`,
  );
}

/** A name to whom something is given; throws ConfigError when it is empty, or where the database knows its reviewers and this is none. */
export async function requireAssignee(database: Database, name: string, flag: string): Promise<string> {
  const trimmed = name.trim();
  if (trimmed === '') throw flagError(flag, 'is empty');
  if (database.dialect === 'embedded' || (await isKnownReviewer(database, trimmed)) !== false) return trimmed;
  throw flagError(flag, `is ${trimmed}, and no login of this name is a member of the role nightscreen_reviewer`);
}
