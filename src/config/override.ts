import type { SettingPath } from './source-file.js';

/** A setting given outside the file, and where: `env NAME` or the flag. */
export interface Override {
  path: SettingPath;
  value: unknown;
  origin: string;
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function replaceAt(value: unknown, path: SettingPath, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  // A group that the file spoils (a text, a list, nothing) stays as it is, so that its own mistake is reported.
  if (value !== undefined && !isGroup(value)) return value;
  return { ...value, [key]: replaceAt(value?.[key], rest, replacement) };
}

/** The settings with one of them replaced; groups on the way are made where they are missing. */
export const applyOverride = (settings: unknown, override: Override): unknown =>
  replaceAt(settings, override.path, override.value);
