import { resolve } from 'node:path';
import { ConfigError } from '../errors.js';
import { findFileProblems } from './load-config.js';
import { configSchema, type Settings } from './schema.js';
import { readSourceFile } from './source-file.js';

/**
 * The settings in force with those of a file laid over them: groups are merged, lists and values replaced, and what the file does not name
 * stays as it is. Throws ConfigError with every mistake there is then, each with its line in the file.
 */
export function overlaySettings(settings: Settings, folder: string, file: string): Settings {
  const source = readSourceFile(resolve(folder, file), file);
  const merged = merge(settings, source.value);
  const problems = findFileProblems(source, merged);
  const parsed = configSchema.safeParse(merged);
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return parsed.data;
}

function merge(base: unknown, over: unknown): unknown {
  if (!isGroup(base) || !isGroup(over)) return over === undefined ? base : over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key], over[key])]));
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
