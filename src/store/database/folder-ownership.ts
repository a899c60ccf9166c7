import { existsSync } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { FolderOwnerError } from '../../errors.js';
import { findFolderProblem } from '../../files.js';

const administrator = 0;
/** What the embedded database keeps in its folder; whatever else lies there is nothing to it. */
const ownNames = /^(?:pgdata|owner-)/;

/**
 * Sees that a folder and the embedded database in it belong to whom this process works as (`me`, a user id), and touches nothing: its files
 * are for their owner alone, so that one of another user keeps everybody else from opening it. `command` is what was typed. A folder that
 * is not there, and an empty one that the administrator has lent, belong to whoever comes first. Throws FolderOwnerError.
 */
export async function requireOwnFolder(folder: string, command: string, me = process.geteuid?.()): Promise<void> {
  if (me === undefined) return;
  const owner = await findOwner(folder, me);
  if (owner === undefined) return;
  const place = resolve(folder);
  const give = `\`${me === administrator ? '' : 'sudo '}chown -R ${me} ${quote(place)}\``;
  if (owner !== me) {
    throw new FolderOwnerError(
      `the folder ${place} of the embedded database belongs to uid ${owner}, and this command runs as uid ${me}: what one writes there, the other cannot read; nothing was written`,
      `type it as its owner: \`sudo -u '#${owner}' ${command}\`; only if the nightly runs are to run as uid ${me}, hand the folder over, while none runs: ${give}`,
    );
  }
  const [first] = await findForeign(folder, me);
  if (first) {
    throw new FolderOwnerError(
      `in the folder ${place} of the embedded database ${relative(folder, first.path)} belongs to uid ${first.owner}, and this command runs as uid ${me}, which cannot use it: something was run here as another user; nothing was written`,
      `give all of it back, while nothing runs: ${give}; then the same command`,
    );
  }
  const inside = join(place, 'pgdata');
  const problem = existsSync(inside) ? findFolderProblem(inside) : null;
  if (problem === null) return;
  throw new FolderOwnerError(
    `the embedded database cannot be opened: ${problem}; nothing was written`,
    `give its owner the right back: \`chmod -R u+rwX ${quote(place)}\`; then the same command`,
  );
}

/** Whose database it is; undefined where there is no folder that could be somebody's. */
async function findOwner(folder: string, me: number): Promise<number | undefined> {
  const owner = await readOwner(folder);
  // A volume is often the administrator's, lent to a group: what counts there is who made the database in it.
  if (typeof owner !== 'number' || owner !== administrator) return owner === 'hidden' ? undefined : owner;
  const made = await readOwner(join(folder, 'pgdata'));
  return made === 'hidden' ? owner : (made ?? me);
}

/** The user id of a file's owner; `hidden` where this process may not even look, undefined where there is nothing. */
async function readOwner(path: string): Promise<number | 'hidden' | undefined> {
  return stat(path).then(
    ({ uid }) => uid,
    (error: unknown) => (isOf(error, 'EACCES') ? 'hidden' : undefined),
  );
}

interface ForeignFile {
  path: string;
  owner: number;
}

async function findForeign(folder: string, me: number): Promise<ForeignFile[]> {
  const names = await readdir(folder).catch(() => []);
  const found = names.filter((name) => ownNames.test(name)).map((name) => findForeignIn(join(folder, name), me));
  return (await Promise.all(found)).flat();
}

/** Files come and go while another process works here, which the lock will show. */
async function findForeignIn(path: string, me: number): Promise<ForeignFile[]> {
  const facts = await lstat(path).catch(() => undefined);
  if (!facts) return [];
  if (facts.uid !== me) return [{ path, owner: facts.uid }];
  if (!facts.isDirectory()) return [];
  const names = await readdir(path).catch(() => []);
  return (await Promise.all(names.map((name) => findForeignIn(join(path, name), me)))).flat();
}

const quote = (path: string): string => (/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const isOf = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
