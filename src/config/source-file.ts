import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findOddFile } from '../files.js';

/** The place of a setting: keys and list positions from the top. */
export type SettingPath = readonly (string | number)[];

/** A configuration file that has been read, right or wrong; it knows the line and column of everything in it. */
export interface SourceFile {
  readonly file: string;
  /** What the file says as plain data; `{}` for one with comments only. */
  readonly value: unknown;
  /** Mistakes in the YAML itself. */
  readonly problems: readonly ConfigProblem[];
  /** Line from which on nothing can be trusted because the YAML breaks there; null when it is whole. */
  readonly brokenFromLine: number | null;
  /** Where the value stands, or where its nearest parent does; `isExact` tells which. */
  locate(path: SettingPath): { where: string; line: number; isExact: boolean };
  /** Where the key itself stands. */
  locateKey(path: SettingPath): { where: string; line: number; isExact: boolean };
}

function readText(file: string, shownAs: string): string {
  const odd = findOddFile(file);
  if (odd !== null) throw new ConfigError([{ where: shownAs, path: '', message: `the configuration file ${odd}` }]);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const message = isMissing ? 'the configuration file does not exist' : 'the configuration file cannot be read';
    throw new ConfigError([{ where: shownAs, path: '', message }], { cause: error });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError([{ where: shownAs, path: '', message: 'the file is not UTF-8 text' }], { cause: error });
  }
}

/** Reads a YAML file; throws ConfigError when it is missing or no text, and keeps every other mistake in `problems`. */
export function readSourceFile(file: string, shownAs: string = file): SourceFile {
  const text = readText(file, shownAs);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const whereIs = (offset: number): { where: string; line: number } => {
    const { line, col } = lines.linePos(offset);
    return { where: `${shownAs}:${line}:${col}`, line };
  };

  const problems: ConfigProblem[] = document.errors.map((error) => ({
    where: whereIs(error.pos[0]).where,
    path: '',
    message: `${error.code === 'DUPLICATE_KEY' ? 'the same key stands twice' : `broken YAML: ${error.message}`}`,
  }));
  const breaks = document.errors.filter((error) => error.code !== 'DUPLICATE_KEY').map((error) => error.pos[0]);
  const brokenFromLine = breaks.length > 0 ? whereIs(Math.min(...breaks)).line : null;
  if (text.trim() === '') {
    problems.push({ where: shownAs, path: '', message: 'the file is empty, as if its writing had been cut short' });
  }

  let value: unknown = {};
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    problems.push({ where: `${shownAs}:1:1`, path: '', message: `broken YAML: ${reason}` });
  }

  function walk(path: SettingPath): { key: number; value: number; isExact: boolean } {
    let node: unknown = document.contents;
    let found = { key: 0, value: document.contents?.range?.[0] ?? 0 };
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap<Node, Node | null>(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
        if (!pair) return { ...found, isExact: false };
        const key = pair.key.range?.[0] ?? found.key;
        found = {
          key,
          value: isScalar(pair.value) && pair.value.value !== null ? (pair.value.range?.[0] ?? key) : key,
        };
        node = pair.value;
      } else if (isSeq<Node>(node) && typeof step === 'number') {
        const item = node.items[step];
        if (!item) return { ...found, isExact: false };
        found = { key: item.range?.[0] ?? found.key, value: item.range?.[0] ?? found.value };
        node = item;
      } else {
        return { ...found, isExact: false };
      }
    }
    return { ...found, isExact: true };
  }

  return {
    file,
    value,
    problems,
    brokenFromLine,
    locate: (path) => {
      const found = walk(path);
      return { ...whereIs(found.isExact ? found.value : found.key), isExact: found.isExact };
    },
    locateKey: (path) => {
      const found = walk(path);
      return { ...whereIs(found.key), isExact: found.isExact };
    },
  };
}

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
