import { readFileSync } from 'node:fs';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type ConfigProblem, readErrorCode, usageError } from '../errors.js';
import { findOddFile } from '../files.js';
import type { SettingPath } from './environment.js';

/** A configuration file, valid or not, with the line and column of each part. */
export interface SourceFile {
  readonly file: string;
  /** Plain data; `{}` for a file with comments only. */
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** The line where the YAML breaks; null when it is valid. */
  readonly brokenFromLine: number | null;
  /** The place of the value, or with `isAboutKey` of its key; unless `isExact`, that of the nearest parent's key. */
  locate(path: SettingPath, isAboutKey: boolean): { where: string; line: number; isExact: boolean };
}

function readText(file: string, shownAs: string): string {
  const odd = findOddFile(file);
  if (odd !== null) throw usageError(shownAs, `the configuration file ${odd}`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const isMissing = readErrorCode(error) === 'ENOENT';
    const message = isMissing ? 'the configuration file does not exist' : 'the configuration file cannot be read';
    throw usageError(isMissing ? `file ${shownAs}` : shownAs, message, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw usageError(shownAs, 'the file is not UTF-8 text', error);
  }
}

/** Far more than settings need. Node ends a process that compiles a regular expression where its stack is nearly used up. */
const mostLevels = 100;
const deepLine = /^[ ?-]{200}/;

/** The first line that is nested too deeply to be read; null without one. */
function findTooDeep(text: string): number | null {
  let brackets = 0;
  for (const [at, line] of text.split('\n').entries()) {
    if (deepLine.test(line)) return at + 1;
    for (const [mark] of line.matchAll(/[[\]{}]/g)) {
      brackets = mark === '[' || mark === '{' ? brackets + 1 : Math.max(0, brackets - 1);
      if (brackets > mostLevels) return at + 1;
    }
  }
  return null;
}

function describeYamlFault(message: string): string {
  if (message.startsWith('Excessive alias count'))
    return 'its aliases (*name) repeat too much; write the values out instead';
  if (message.startsWith('Converting circular structure'))
    return 'an alias (*name) names a group around it, so it never ends; write the values out instead';
  return `broken YAML: ${message}`;
}

/** Reads a YAML file; throws ConfigError when it is missing or not text, and collects other mistakes in `problems`. */
export function readSourceFile(file: string, shownAs: string = file): SourceFile {
  const text = readText(file, shownAs);
  const tooDeep = findTooDeep(text);
  if (tooDeep !== null) {
    const message = 'the settings are nested too deeply to be read; remove the surplus brackets or levels';
    throw usageError(`${shownAs}:${tooDeep}`, message);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const whereIs = (offset: number): { where: string; line: number } => {
    const { line, col } = lines.linePos(offset);
    return { where: `${shownAs}:${line}:${col}`, line };
  };

  const problems: ConfigProblem[] = document.errors.map((error) => ({
    where: whereIs(error.pos[0]).where,
    path: '',
    message: error.code === 'DUPLICATE_KEY' ? 'this key occurs twice' : describeYamlFault(error.message),
  }));
  const breaks = document.errors.filter((error) => error.code !== 'DUPLICATE_KEY').map((error) => error.pos[0]);
  const brokenFromLine = breaks.length > 0 ? whereIs(Math.min(...breaks)).line : null;
  if (text.trim() === '') {
    problems.push({ where: shownAs, path: '', message: 'the file is empty; its writing may have been interrupted' });
  }

  let value: unknown = {};
  try {
    const read: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    // Fails for an alias that names a group around it.
    JSON.stringify(read);
    value = read;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    problems.push({ where: `${shownAs}:1:1`, path: '', message: describeYamlFault(reason) });
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
    locate: (path, isAboutKey) => {
      const { key, value, isExact } = walk(path);
      return { ...whereIs(isExact && !isAboutKey ? value : key), isExact };
    },
  };
}
