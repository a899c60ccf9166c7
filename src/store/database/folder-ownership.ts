import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { FolderOwnerError, readErrorCode, usageError } from '../../errors.js';
import { findFolderProblem, isReadOnly } from '../../files.js';

const administrator = 0;
/** The names of the embedded database's own files; other files in the folder are ignored. */
const ownNames = /^(?:pgdata|owner-)/;

/**
 * Checks, without a change, that a folder and the embedded database in it belong to the user of this process (`me`, a user id): one file of
 * another user makes the database unusable. A missing folder, and an empty folder of the administrator, belong to the first user. `command`:
 * the command line, for the message. Throws FolderOwnerError.
 */
export async function requireOwnFolder(folder: string, command: string, me = process.geteuid?.()): Promise<void> {
  if (me === undefined) return;
  const owner = await findOwner(folder, me);
  if (owner === undefined) return;
  const place = resolve(folder);
  const give = `\`${me === administrator ? '' : 'sudo '}chown -R ${me} ${quote(place)}\``;
  if (owner !== me) {
    throw new FolderOwnerError(
      `the folder ${place} of the embedded database belongs to uid ${owner}. This command runs as uid ${me}, so neither could read the files of the other. Nothing was written`,
      `run it as the owner: \`sudo -u '#${owner}' ${command}\`. Change the owner only if the nightly runs will run as uid ${me}, while no command runs: ${give}`,
    );
  }
  const [first] = findForeign(folder, me);
  if (first) {
    throw new FolderOwnerError(
      `in the folder ${place} of the embedded database ${relative(folder, first.path)} belongs to uid ${first.owner}, and this command runs as uid ${me}, which cannot use it. Another user ran a command here; nothing was written`,
      `restore the owner while no command runs: ${give}; then run the same command again`,
    );
  }
  const inside = join(place, 'pgdata');
  const problem = existsSync(inside) ? findFolderProblem(inside) : null;
  if (problem === null) return;
  if (isReadOnly(problem)) {
    const message = `the embedded database cannot be opened: ${problem}. Mount it for writing: reading commands lock the folder too`;
    throw usageError('database.folder', message);
  }
  throw new FolderOwnerError(
    `the embedded database cannot be opened: ${problem}; nothing was written`,
    `restore the rights of the owner: \`chmod -R u+rwX ${quote(place)}\`; then run the same command again`,
  );
}

/** The owner of the database; undefined where there is no folder or it cannot be read. */
async function findOwner(folder: string, me: number): Promise<number | undefined> {
  const owner = await readOwner(folder);
  // A mounted volume often belongs to the administrator: then the owner of the database in it counts.
  if (typeof owner !== 'number' || owner !== administrator) return owner === 'hidden' ? undefined : owner;
  const made = await readOwner(join(folder, 'pgdata'));
  return made === 'hidden' ? owner : (made ?? me);
}

/** The user id of a file's owner; `hidden` without the right to read it, undefined for a missing file. */
async function readOwner(path: string): Promise<number | 'hidden' | undefined> {
  return stat(path).then(
    ({ uid }) => uid,
    (error: unknown) => (readErrorCode(error) === 'EACCES' ? 'hidden' : undefined),
  );
}

interface ForeignFile {
  path: string;
  owner: number;
}

function findForeign(folder: string, me: number): ForeignFile[] {
  const names = listNames(folder).filter((name) => ownNames.test(name));
  return names.flatMap((name) => findForeignIn(join(folder, name), me));
}

/** Ignores files that disappear while another process works here; the lock detects that process. Promises took ten times as long for 1,000 files. */
function findForeignIn(path: string, me: number): ForeignFile[] {
  const facts = readFacts(path);
  if (facts === undefined) return [];
  if (facts.uid !== me) return [{ path, owner: facts.uid }];
  return facts.isDirectory() ? listNames(path).flatMap((name) => findForeignIn(join(path, name), me)) : [];
}

function readFacts(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A path as a shell takes it. */
export const quote = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
