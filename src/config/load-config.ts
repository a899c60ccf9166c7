import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { findKeyProblem } from '../client/credentials.js';
import { ConfigError, type ConfigProblem, readErrorCode, usageError } from '../errors.js';
import { findOddFile } from '../files.js';
import { isSafeUrl } from '../loopback.js';
import type { RunMode } from '../vocabulary.js';
import {
  type Environment,
  findUnknownVariables,
  findUnverifiedTls,
  keyVariable,
  type Override,
  pingVariable,
  readSecret,
  type Secret,
  type SettingPath,
  secretNames,
  startsWith,
  variables,
} from './environment.js';
import { findMistakes, listTexts, pathSettings } from './mistakes.js';
import { configSchema, digestSettings } from './schema.js';

/** The sources of a configuration; `flags` are settings of the command line. */
export interface ConfigSources {
  environment: Environment;
  /** The base of relative paths in flags and variables. */
  folder: string;
  /** The file named by `--config`; it must exist. */
  file?: string | undefined;
  flags?: readonly Override[];
}

/** The effective configuration and the origin of each part. */
export interface Config {
  settings: ReturnType<typeof configSchema.parse> & { organisation: string };
  /** The configuration file as it was named, or null when there is none. */
  file: string | null;
  settingsDigest: string;
  secrets: readonly Secret[];
  /** A secret by variable name, `NAME_FILE` included; throws ConfigError when its file cannot be read. */
  secret: (name: string) => string | undefined;
  /** `default`, `file:line`, `env NAME` or the flag. */
  originOf: (path: SettingPath) => string;
}

/** One organisation exists without any configuration; there is no other so far. */
const onlyOrganisation = 'default';

/** The configuration file without `--config` and NIGHTSCREEN_CONFIG. */
export const defaultFile = 'nightscreen.config.yaml';

function openSourceFile(sources: ConfigSources): SourceFile | null {
  const named = sources.file ?? (sources.environment['NIGHTSCREEN_CONFIG'] || undefined);
  const file = resolve(sources.folder, named ?? defaultFile);
  if (named === undefined && !existsSync(file)) return null;
  return readSourceFile(file, named ?? defaultFile);
}

/** A path as messages write it, such as `rosters[0].guards`. */
export const formatPath = (path: SettingPath): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${key}` : key), '');

/** The mistakes of the file, or of the settings that it is a part of; of broken YAML only those before the break. */
function findFileProblems(source: SourceFile, settings = source.value): ConfigProblem[] {
  const found = findMistakes(settings).flatMap(({ path, isAboutKey, message }) => {
    const place = source.locate(path, isAboutKey);
    const isWhole = source.brokenFromLine === null || (place.isExact && place.line < source.brokenFromLine);
    return isWhole ? [{ where: place.where, path: formatPath(path), message }] : [];
  });
  return [...source.problems, ...found];
}

/** The settings that the environment overrides; an empty variable counts as not set. */
const listOverrides = (environment: Environment): Override[] =>
  variables.flatMap(({ name, overrides }) => {
    // Values from files or commands often end with a line break.
    const value = environment[name]?.replace(/(?<![\r\n])[\r\n]+$/, '');
    return overrides && value ? [{ path: overrides, value, origin: `env ${name}` }] : [];
  });

const { database, reports } = configSchema.parse({});
/** Relative to the configuration file, as the paths that it names; without one, to the folder of the command. */
const defaultFolders = { database: { folder: database.folder }, reports: { dir: reports.dir } };

/**
 * Composes file, environment and flags (the later wins); throws one ConfigError with every mistake, each with its file, line and column, its
 * variable, or its flag.
 */
export function loadConfig(sources: ConfigSources): Config {
  const source = openSourceFile(sources);
  const base = source ? dirname(source.file) : sources.folder;
  const fromFile = resolvePaths(source ? merge(defaultFolders, source.value) : defaultFolders, base);
  const overrides: Override[] = [...listOverrides(sources.environment), ...(sources.flags ?? [])];
  const value = resolvePaths(overrides.reduce<unknown>(applyOverride, fromFile), sources.folder);
  const overrideAt = (path: SettingPath): Override | undefined =>
    overrides.findLast((override) => startsWith(path, override.path));
  const parsed = configSchema.safeParse(value);
  const checked = checkSecrets(sources.environment, parsed.data?.service.mode);
  const fromOverrides = findMistakes(value).flatMap(({ path, message }) => {
    const override = overrideAt(path);
    return override ? [{ where: override.origin, path: formatPath(path), message }] : [];
  });
  const fromSource = source ? findFileProblems(source) : [];
  const addresses = [parsed.data?.service.baseUrl, ...(parsed.data?.webhooks ?? []).map(({ url }) => url)];
  const unverified = findUnverifiedTls(sources.environment, value, addresses);
  const problems = [...fromOverrides, ...checked.problems, ...unverified, ...fromSource];
  if (problems.length > 0 || !parsed.success) {
    // The unread part behind a break of the YAML may name any variable.
    const unknown = findUnknownVariables(sources.environment, value).filter(
      ({ meant }) => meant !== null || (source?.brokenFromLine ?? null) === null,
    );
    throw new ConfigError(sortByPlace([...problems, ...unknown.map(toUnknownProblem)]));
  }

  return {
    settings: { ...parsed.data, organisation: onlyOrganisation },
    file: source ? source.file : null,
    settingsDigest: digestSettings(parsed.data),
    secrets: checked.secrets,
    secret: (name) => readSecret(sources.environment, name)?.value,
    originOf: (path) => {
      const override = overrideAt(path);
      if (override) return override.origin;
      const place = source?.locate(path, true);
      return place?.isExact ? place.where.replace(/:\d+$/, '') : 'default';
    },
  };
}

function toUnknownProblem({ name, meant }: { name: string; meant: string | null }): ConfigProblem {
  const hint = meant === null ? '' : ` (did you mean ${meant}?)`;
  return {
    where: `env ${name}`,
    path: '',
    message: `unknown variable${hint}: correct the name, or remove the variable`,
  };
}

function sortByPlace(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const placeOf = (problem: ConfigProblem): [number, number] => {
    const [, line, column] = /:(\d+):(\d+)$/.exec(problem.where) ?? [];
    return [Number(line ?? 0), Number(column ?? 0)];
  };
  const unique = new Map(problems.map((problem) => [`${problem.where} ${problem.path} ${problem.message}`, problem]));
  return [...unique.values()].toSorted((left, right) => {
    const [leftLine, leftColumn] = placeOf(left);
    const [rightLine, rightColumn] = placeOf(right);
    return leftLine - rightLine || leftColumn - rightColumn;
  });
}

const protocolsByName: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: ['postgres:', 'postgresql:'],
  SMTP_URL: ['smtp:', 'smtps:'],
};

/** Archives pass many mail gateways, so their password must withstand automated guessing. */
const leastPasswordLength = 12;

function findProblem(secret: Secret, mode: RunMode | undefined): string | undefined {
  if (secret.name === keyVariable) return findKeyProblem(secret.value, mode);
  if (secret.name === pingVariable) {
    const isSafe = URL.canParse(secret.value) && isSafeUrl(new URL(secret.value));
    return isSafe ? undefined : 'must be a URL with https:// (http:// is allowed to this machine only)';
  }
  if (secret.name !== 'NIGHTSCREEN_ARCHIVE_PASSWORD') return findUrlProblem(secret);
  const isShort = secret.value.length < leastPasswordLength;
  return isShort ? `must have at least ${leastPasswordLength} characters` : undefined;
}

function findUrlProblem(secret: Secret): string | undefined {
  const protocols = protocolsByName[secret.name] ?? [];
  const expected = protocols.map((protocol) => `${protocol}//`).join(' or ');
  if (!URL.canParse(secret.value))
    return `is not a URL (expected ${expected}...; in a password, characters such as # / ? and @ are percent-encoded: # is %23)`;
  return protocols.includes(new URL(secret.value).protocol) ? undefined : `must begin with ${expected}`;
}

/** Reads the secrets with fixed names; the messages of mistakes do not show values. */
function checkSecrets(
  environment: Environment,
  mode: RunMode | undefined,
): { secrets: Secret[]; problems: ConfigProblem[] } {
  const secrets: Secret[] = [];
  const problems: ConfigProblem[] = [];
  for (const name of secretNames) {
    try {
      const secret = readSecret(environment, name);
      if (!secret) continue;
      secrets.push(secret);
      const message = findProblem(secret, mode);
      if (message) problems.push({ where: `env ${secret.from}`, path: '', message });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  return { secrets, problems };
}

/**
 * The settings in force, overlaid with those of a file: groups are merged, lists and values replaced, other settings unchanged. Throws
 * ConfigError with every mistake and its line in the file.
 */
export function overlaySettings(settings: Config['settings'], folder: string, file: string): Config['settings'] {
  const source = readSourceFile(resolve(folder, file), file);
  const { organisation, ...inForce } = settings;
  const merged = merge(inForce, source.value);
  const problems = findFileProblems(source, merged);
  const parsed = configSchema.safeParse(merged);
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return { ...parsed.data, organisation };
}

function merge(base: unknown, over: unknown): unknown {
  if (!isGroup(base) || !isGroup(over)) return over === undefined ? base : over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key], over[key])]));
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function replaceAt(value: unknown, path: SettingPath, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(value) && typeof key === 'number') {
    return value.with(key, replaceAt(value[key], rest, replacement));
  }
  // A faulty group (a text, a list, null) stays unchanged, so that its own mistake is reported.
  if (value !== undefined && !isGroup(value)) return value;
  return { ...value, [key]: replaceAt(value?.[key], rest, replacement) };
}

/** The settings with one of them replaced; missing groups on its path are created. */
const applyOverride = (settings: unknown, override: Override): unknown =>
  replaceAt(settings, override.path, override.value);

/** A configuration file, valid or not, with the line and column of each part. */
interface SourceFile {
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
function readSourceFile(file: string, shownAs: string = file): SourceFile {
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

/** Settings with relative paths resolved from the folder; `-` is standard input. */
function resolvePaths(value: unknown, folder: string): unknown {
  const texts = pathSettings.flatMap((pattern) => listTexts(value, pattern));
  const relative = texts.filter(({ text }) => text !== '-' && !isAbsolute(text));
  return relative.reduce((settings, { path, text }) => replaceAt(settings, path, resolve(folder, text)), value);
}
