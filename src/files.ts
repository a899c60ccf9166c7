import { randomBytes } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError } from './errors.js';

/**
 * Makes a folder and those above it with mode 0700. Throws ConfigError when this process cannot write there; `remedy` says what to do then.
 * Node itself says ENOENT where a file system is read-only.
 */
export async function makeFolder(folder: string, remedy: string): Promise<void> {
  const problem = findFolderProblem(folder);
  if (problem !== null) throw new ConfigError([{ where: folder, path: '', message: `${problem}; ${remedy}` }]);
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Why nothing can be written to a folder, or to the nearest one above that exists; null when nothing is known against it. Makes nothing. */
export function findFolderProblem(folder: string): string | null {
  const at = resolve(folder);
  const isFolder = isExistingFolder(at);
  if (isFolder === null) return dirname(at) === at ? null : findFolderProblem(dirname(at));
  if (!isFolder) return `${at} is a file where a folder belongs`;
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS'
      ? `${at} is on a read-only file system`
      : `this user may not write to ${at}`;
  }
}

/** Null where there is nothing, or nothing that this user may look at: the folder above it says more. */
function isExistingFolder(path: string): boolean | null {
  try {
    return statSync(path).isDirectory();
  } catch {
    return null;
  }
}

/**
 * Says why a path must not be opened: it names a pipe, a socket or a device, whose reader may wait for ever and keeps the process from ending.
 * Null for a regular file, a folder, and a path that cannot be looked at: each reader has its own words for those.
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

const toPassingName = (name: string): string => `.${name}.${randomBytes(6).toString('hex')}.tmp`;

/** The name that a file was to get whose passing name is this one; undefined for any other name. */
export const readPassingName = (name: string): string | undefined => /^\.(.+)\.[0-9a-f]{12}\.tmp$/.exec(name)?.[1];

/**
 * Writes a file (0600) under a passing name beside `path` and gives it its own, which `fill` says once it has written all; gives that name.
 * What `fill` throws leaves nothing behind.
 */
export async function writeWhole(path: string, fill: (file: FileHandle) => Promise<string>): Promise<string> {
  const passing = join(dirname(path), toPassingName(basename(path)));
  try {
    const file = await open(passing, 'wx', 0o600);
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

/** Writes a file for its owner's eyes only, whole or not at all; what stood there before is replaced. */
export async function writePrivately(
  file: string,
  content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  await writeWhole(file, async (draft) => {
    await writeFile(draft, content);
    return file;
  });
}
