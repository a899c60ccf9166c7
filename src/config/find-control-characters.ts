import type { Mistake } from './describe-issue.js';
import { pathSettings } from './resolve-paths.js';
import type { SettingPath } from './source-file.js';

const addressSettings: readonly (readonly string[])[] = [
  ['service', 'baseUrl'],
  ['service', 'proxy'],
  ['webhooks', '*', 'url'],
  ['metrics', 'pushgateway'],
];

/** Addresses and paths that hold a NUL or another control character: no file has such a name, and an address would become another one. */
export function findControlCharacters(settings: unknown): Mistake[] {
  return [...addressSettings, ...pathSettings].flatMap((pattern) => findAt(settings, pattern, []));
}

function findAt(value: unknown, pattern: readonly string[], path: SettingPath): Mistake[] {
  const [key, ...rest] = pattern;
  if (Array.isArray(value)) {
    const inner = key === '*' ? rest : pattern;
    return value.flatMap((item, at) => findAt(item, inner, [...path, at]));
  }
  if (key !== undefined) {
    const isGroup = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isGroup ? findAt(Reflect.get(value, key), rest, [...path, key]) : [];
  }
  const [found] = typeof value === 'string' ? (/\p{Cc}/u.exec(value) ?? []) : [];
  if (found === undefined) return [];
  const codePoint = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return [{ path, isAboutKey: false, message: `holds a control character (U+${codePoint}): take it out` }];
}
