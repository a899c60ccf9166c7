import { readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { RosterError } from '../../errors.js';
import { readCode, standardInput } from './source-bytes.js';

const maxFiles = 10_000;

/**
 * Lists the files of paths and patterns, each once, ordered by name. Throws RosterError `roster_not_found` for a
 * pattern without a match; the existence of a plain path is not checked.
 */
export async function findFiles(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for (const path of paths) {
    for (const file of await expand(path)) {
      const identity = file === standardInput ? file : await realpath(file).catch(() => resolve(file));
      if (!found.has(identity)) found.set(identity, file);
    }
  }
  if (found.size > maxFiles) {
    throw new RosterError(
      'too_many_files',
      `${paths.join(', ')}: ${found.size} files; a roster has at most ${maxFiles}.`,
    );
  }
  return [...found.values()].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}

async function expand(path: string): Promise<readonly string[]> {
  if (path === standardInput || !isPattern(path) || (await isFile(path))) return [path];
  const segments = path.split('/');
  const first = segments.findIndex(isPattern);
  const start = segments.slice(0, first).join('/');
  const folder = first > 0 && start === '' ? '/' : start;
  const below = segments.slice(first).filter((segment) => segment !== '' && segment !== '.');
  const files = await matchBelow(folder, below);
  if (files.length > 0) return files;
  throw new RosterError(
    'roster_not_found',
    `No file matches ${path}. Nightscreen searched in ${resolve(folder)}; check the pattern and the folder.`,
  );
}

async function matchBelow(folder: string, segments: readonly string[]): Promise<string[]> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [];
  if (segment === '**') {
    const here = await matchBelow(folder, rest.length === 0 ? ['*'] : rest);
    const below = await listNames(folder, (name, isFolder) => isFolder && !name.startsWith('.'));
    const deeper = await Promise.all(below.map((name) => matchBelow(join(folder, name), segments)));
    return [...here, ...deeper.flat()];
  }
  const pattern = compileSegment(segment);
  const names = await listNames(folder, (name) => pattern.test(name));
  const matched = names.map((name) => join(folder, name));
  if (rest.length > 0) return (await Promise.all(matched.map((each) => matchBelow(each, rest)))).flat();
  const isFolder = await Promise.all(matched.map(async (each) => (await stat(each).catch(() => null))?.isDirectory()));
  return matched.filter((_, index) => isFolder[index] !== true);
}

/**
 * Links to folders may form a loop, so they are no folders. Throws RosterError `roster_unreadable` for a folder that
 * this user may not read: its files would be missing without a word.
 */
async function listNames(folder: string, isMeant: (name: string, isFolder: boolean) => boolean): Promise<string[]> {
  const entries = await readdir(folder === '' ? '.' : folder, { withFileTypes: true }).catch((error: unknown) => {
    const code = readCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    const advice = 'Its files may belong to the roster: grant this user the right to read it, or narrow the pattern';
    throw new RosterError('roster_unreadable', `The folder ${resolve(folder)} cannot be read (${code}). ${advice}.`);
  });
  return entries.filter((entry) => isMeant(entry.name, entry.isDirectory())).map((entry) => entry.name);
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isFile() === true;

const isPattern = (path: string): boolean => /[*?]/.test(path);

/** Compiles a segment of a pattern with `*` and `?`. Only a dot matches a leading dot. */
function compileSegment(segment: string): RegExp {
  const source = segment
    .replaceAll(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${segment.startsWith('.') ? '' : '(?!\\.)'}${source}$`, 'su');
}
