import { toListError } from './list-error.js';

const maxNameLength = 1_000;

/** A name with its white space folded and quotation marks around it taken off; empty when nothing is left. */
function cleanName(text: string): string {
  return text
    .replace(/[\s\p{Z}\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^[“”"'‘’«»„]+(.*?)[“”"'‘’«»]+$/u, '$1')
    .trim();
}

/** The name on a line of a list; throws ConfigError when it has no letter or digit, is too long, or was damaged on the way. */
export function readName(path: string, line: number, text: string): string {
  const name = cleanName(text);
  if (name.length > maxNameLength) {
    throw toListError(path, line, `holds a name of ${name.length} characters: put one name on a line`);
  }
  if (name.includes('\ufffd')) {
    throw toListError(path, line, 'holds a damaged character (U+FFFD): take the list from its publisher again');
  }
  if (!/[\p{L}\p{N}]/u.test(name)) {
    throw toListError(path, line, 'holds no name: correct the line or take it out');
  }
  return name;
}

/** The spellings that are names, each once and without the main one. */
export function cleanAliases(name: string, texts: readonly string[]): readonly string[] {
  const aliases = texts.map(cleanName).filter((alias) => /[\p{L}\p{N}]/u.test(alias) && alias.length <= maxNameLength);
  return [...new Set(aliases)].filter((alias) => alias !== name);
}
