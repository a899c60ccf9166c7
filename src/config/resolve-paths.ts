import { isAbsolute, resolve } from 'node:path';

/** Settings that name a file or folder; `*` stands for any position of a list. */
export const pathSettings: readonly (readonly string[])[] = [
  ['database', 'folder'],
  ['reports', 'dir'],
  ['reports', 'publishTo'],
  ['mail', 'directory'],
  ['metrics', 'textfile'],
  ['listen', 'key'],
  ['watchdog', 'noteFile'],
  ['scheduler', 'jobsFolder'],
  ['rosters', '*', 'csv', 'path'],
  ['rosters', '*', 'parties', '*', 'csv', 'path'],
];

/** The path that means standard input. */
const standardInput = '-';

function resolveAt(value: unknown, path: readonly string[], folder: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return resolveValue(value, folder);
  if (key === '*') return Array.isArray(value) ? value.map((item) => resolveAt(item, rest, folder)) : value;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !(key in value)) return value;
  return { ...value, [key]: resolveAt(Reflect.get(value, key), rest, folder) };
}

function resolveValue(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((each) => resolveValue(each, folder));
  return typeof value === 'string' && value !== standardInput && !isAbsolute(value) ? resolve(folder, value) : value;
}

/** The file's settings with relative paths made absolute from the folder the file stands in. */
export function resolvePaths(value: unknown, folder: string): unknown {
  return pathSettings.reduce((settings, path) => resolveAt(settings, path, folder), value);
}
