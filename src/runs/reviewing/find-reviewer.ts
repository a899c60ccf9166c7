import { ConfigError } from '../../errors.js';
import type { Database } from '../../store/database.js';
import { findLogin } from '../../store/find-login.js';
import type { Reviewer } from './decide-items.js';

/**
 * Who decides; for a preview, which stores nothing, nobody needs a name. On Postgres the login, and nobody in another name; on the embedded database whoever `name` says, attested and not authenticated.
 * Throws ConfigError when a name is missing, or given where the login says it.
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
    throw refuse(
      flag,
      'is missing: on the embedded database nothing else says who decides, and the name is kept as attested',
    );
  }
  if (name === undefined || name === login) return { name: login, isAttested: false };
  throw refuse(
    flag,
    `is ${name}, and the database login is ${login}: on Postgres everybody decides under their own login`,
  );
}

const refuse = (flag: string, message: string): ConfigError =>
  new ConfigError([{ where: `flag ${flag}`, message, path: '' }]);
