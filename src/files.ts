import { randomBytes } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { NightscreenError, readErrorCode, usageError } from './errors.js';

/**
 * Makes a folder and its parents with mode 0700. Throws ConfigError, ending with `remedy`, when this process cannot
 * write there. Node itself reports ENOENT for a read-only file system.
 */
export async function makeFolder(folder: string, remedy: string): Promise<void> {
  const problem = findFolderProblem(folder);
  if (problem !== null) throw usageError(folder, `${problem}; ${remedy}`);
  try {
    await makeFolders(resolve(folder));
  } catch (error) {
    if (readErrorCode(error) !== 'ENOENT') throw error;
    throw usageError(folder, `the file system takes no new folder there; ${remedy}`, error);
  }
}

/**
 * Makes a folder and its parents with mode 0700. The recursive mkdir of Node 20 never ends where a folder that exists takes no new one: in /proc, and in
 * a working folder that was removed meanwhile. Throws the error of the file system.
 */
export async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (isExistingFolder(folder)) return;
    const parent = dirname(folder);
    if (readErrorCode(error) !== 'ENOENT' || isExistingFolder(parent)) throw error;
    await makeFolders(parent);
    await makeFolders(folder);
  }
}

/** Gives the reason why a folder, or its nearest existing parent, is not writable; null when no reason is known. Creates nothing. */
export function findFolderProblem(folder: string): string | null {
  const at = resolve(folder);
  const isFolder = isExistingFolder(at);
  if (isFolder === null) return dirname(at) === at ? null : findFolderProblem(dirname(at));
  if (!isFolder) return `${at} is a file where a folder belongs`;
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return readErrorCode(error) === 'EROFS' ? `${at} is on ${readOnly}` : `this user may not write to ${at}`;
  }
}

const readOnly = 'a read-only file system';

/** Whether a problem of a folder is its mount rather than a right. */
export const isReadOnly = (problem: string): boolean => problem.endsWith(readOnly);

/** Null for a path that does not exist or that this user may not look at: the parent then gives the better reason. */
function isExistingFolder(path: string): boolean | null {
  try {
    return statSync(path).isDirectory();
  } catch {
    return null;
  }
}

/**
 * Gives the reason not to open a path: it names a pipe, a socket or a device. A reader of these may wait without end and block the exit. Null
 * for a regular file, a folder, and a path that cannot be read: each reader words those errors itself.
 */
export function findOddFile(path: string): string | null {
  try {
    const found = statSync(path);
    if (found.isFile() || found.isDirectory()) return null;
    const kind = found.isFIFO() ? 'a pipe' : found.isSocket() ? 'a socket' : 'a device';
    return `is ${kind}, and only regular files are read`;
  } catch {
    return null;
  }
}

/** A hidden name for what is being written. */
export const toPassingName = (name: string): string => `.${name}.${randomBytes(6).toString('hex')}.tmp`;

const passingForm = /^\..+\.[0-9a-f]{12}\.tmp$/;
const staleMs = 24 * 3_600_000;

/** Removes what killed writers left in a folder, once it has not changed for a day; it never throws. */
export async function removeRemains(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!passingForm.test(name)) continue;
    const path = join(folder, name);
    const facts = await lstat(path).catch(() => null);
    if (facts === null || facts.uid !== process.geteuid?.() || Date.now() - facts.mtimeMs <= staleMs) continue;
    await rm(path, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

/** Makes a folder (0700) for a short time in another one; the caller removes it. */
export async function makePassingFolder(folder: string, name: string): Promise<string> {
  await removeRemains(folder);
  const path = join(folder, toPassingName(name));
  await mkdir(path, { mode: 0o700 });
  return path;
}

/**
 * Writes a file under a temporary name in the folder of `path`. Then renames it to the path that `fill` returns, and gives that path. When `fill`
 * throws, no file remains.
 */
export async function writeWhole(
  path: string,
  fill: (file: FileHandle) => Promise<string>,
  mode = 0o600,
): Promise<string> {
  await removeRemains(dirname(path));
  const passing = join(dirname(path), toPassingName(basename(path)));
  try {
    const file = await open(passing, 'wx', mode);
    let name: string;
    try {
      name = await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(passing, name);
    return name;
  } catch (error) {
    await rm(passing, { force: true });
    throw error;
  }
}

/** Writes a file (0600) whole or not at all, and replaces an existing one. Throws ConfigError when its folder cannot be written, NightscreenError when the disk is full. */
export async function writePrivately(
  file: string,
  content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const problem = findFolderProblem(dirname(file));
  if (problem !== null) throw usageError(`file ${file}`, `${problem}; name a file in another folder`);
  try {
    await writeWhole(file, async (draft) => {
      await writeFile(draft, content);
      return file;
    });
  } catch (error) {
    if (error instanceof NightscreenError || readErrorCode(error) === null) throw error;
    throw new NightscreenError('file_not_written', `${file} cannot be written; nothing was left there`, {
      cause: error,
    });
  }
}

/** Makes the entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
