import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { findKeyProblem, toKeyFingerprint } from '../client/credentials.js';
import { findBaseUrlProblem } from '../client/settings.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { jobsSettingsSchema } from '../scheduling/settings.js';
import type { RunMode } from '../vocabulary.js';
import {
  applyOverride,
  type Environment,
  findUnknownVariables,
  listNamedSecrets,
  listOverrides,
  type Override,
  readSecret,
  type Secret,
  secretNames,
} from './environment.js';
import { describeIssue, listKnownKeys, type Mistake, readAt } from './issues.js';
import { findNearMiss } from './near-miss.js';
import { configSchema, digestSettings, type Settings } from './schema.js';
import { pathSettings, readSourceFile, resolvePaths, type SettingPath, type SourceFile } from './source-file.js';

/** What the configuration is made from; `flags` are settings given on the command line. */
export interface ConfigSources {
  environment: Environment;
  /** Relative paths of flags and variables start here. */
  folder: string;
  /** The file named by `--config`; it must exist. */
  file?: string | undefined;
  flags?: readonly Override[];
}

/** The effective configuration and where each part of it came from. */
export interface Config {
  settings: Settings;
  /** The configuration file as it was named, or null when there is none. */
  file: string | null;
  settingsDigest: string;
  /** Secrets known by name that are set. */
  secrets: readonly Secret[];
  /** A secret by variable name, `NAME_FILE` included; throws ConfigError when its file cannot be read. */
  secret: (name: string) => string | undefined;
  /** The variable that gives a secret, `NAME` or `NAME_FILE`, null when neither is set; throws ConfigError as `secret` does. */
  originOfSecret: (name: string) => string | null;
  /** `default`, `file:line`, `env NAME` or the flag. */
  originOf: (path: SettingPath) => string;
}

const defaultFile = 'nightscreen.config.yaml';

function openSourceFile(sources: ConfigSources): SourceFile | null {
  const named = sources.file ?? (sources.environment['NIGHTSCREEN_CONFIG'] || undefined);
  const file = resolve(sources.folder, named ?? defaultFile);
  if (named === undefined && !existsSync(file)) return null;
  return readSourceFile(file, named ?? defaultFile);
}

const startsWith = (path: SettingPath, prefix: SettingPath): boolean => prefix.every((key, at) => path[at] === key);
const formatPath = (path: SettingPath): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${key}` : key), '');

function findUrlMistake(settings: unknown): Mistake[] {
  const path = ['service', 'baseUrl'];
  const baseUrl = readAt(settings, path);
  const message = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? findBaseUrlProblem(baseUrl) : undefined;
  return message ? [{ path, isAboutKey: false, message }] : [];
}

function findMistakes(settings: unknown): Mistake[] {
  const issues = configSchema.safeParse(settings).error?.issues ?? [];
  const secrets = findMisplacedSecrets(configSchema, settings);
  const isSaid = (mistake: Mistake): boolean => secrets.some((secret) => startsWith(secret.path, mistake.path));
  const others = issues.flatMap((issue) => describeIssue(configSchema, settings, issue));
  return [
    ...secrets,
    ...others.filter((mistake) => !isSaid(mistake)),
    ...findUrlMistake(settings),
    ...findControlCharacters(settings),
    ...findDuplicateRosters(settings),
    ...findUnknownJobs(settings),
    ...findUnknownRosters(settings),
  ];
}

/**
 * What is wrong in the file, or in the settings that it is a part of; where its YAML breaks off, only what stands before the break can be
 * judged.
 */
function findFileProblems(source: SourceFile, settings = source.value): ConfigProblem[] {
  const found = findMistakes(settings).flatMap(({ path, isAboutKey, message }) => {
    const place = isAboutKey ? source.locateKey(path) : source.locate(path);
    const isWhole = source.brokenFromLine === null || (place.isExact && place.line < source.brokenFromLine);
    return isWhole ? [{ where: place.where, path: formatPath(path), message }] : [];
  });
  return [...source.problems, ...found];
}

/**
 * Composes file, environment and flags (the later wins); throws one ConfigError with every mistake there is,
 * each with file, line and column, the variable, or the flag.
 */
export function loadConfig(sources: ConfigSources): Config {
  const source = openSourceFile(sources);
  const fromFile = source ? resolvePaths(source.value, dirname(source.file)) : {};
  const overrides: Override[] = [...listOverrides(sources.environment), ...(sources.flags ?? [])];
  const value = overrides.reduce<unknown>(applyOverride, fromFile);
  const overrideAt = (path: SettingPath): Override | undefined =>
    overrides.findLast((override) => startsWith(path, override.path));
  const parsed = configSchema.safeParse(value);
  const checked = checkSecrets(sources.environment, parsed.data?.service.mode);
  const fromOverrides = findMistakes(value).flatMap(({ path, message }) => {
    const override = overrideAt(path);
    return override ? [{ where: override.origin, path: formatPath(path), message }] : [];
  });
  const fromSource = source ? findFileProblems(source) : [];
  const problems = [...fromOverrides, ...checked.problems, ...fromSource];
  if (problems.length > 0 || !parsed.success) {
    // Where the YAML breaks off, what stands behind may name any variable.
    const unknown = findUnknownVariables(sources.environment, value).filter(
      ({ meant }) => meant !== null || (source?.brokenFromLine ?? null) === null,
    );
    throw new ConfigError(sortByPlace([...problems, ...unknown.map(toUnknownProblem)]));
  }

  return {
    settings: parsed.data,
    file: source ? source.file : null,
    settingsDigest: digestSettings(parsed.data),
    secrets: checked.secrets,
    secret: (name) => readSecret(sources.environment, name)?.value,
    originOfSecret: (name) => readSecret(sources.environment, name)?.from ?? null,
    originOf: (path) => {
      const override = overrideAt(path);
      if (override) return override.origin;
      const place = source?.locateKey(path);
      return place?.isExact ? place.where.replace(/:\d+$/, '') : 'default';
    },
  };
}

function toUnknownProblem({ name, meant }: { name: string; meant: string | null }): ConfigProblem {
  const hint = meant === null ? '' : ` (${meant} was meant?)`;
  return {
    where: `env ${name}`,
    path: '',
    message: `nothing reads it${hint}: correct the name, or remove the variable`,
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

/** What travels through many gateways has to withstand guessing by machine. */
const leastPasswordLength = 12;

function findProblem(secret: Secret, mode: RunMode | undefined): string | undefined {
  if (secret.name === 'NIGHTSCREEN_API_KEY') return findKeyProblem(secret.value, mode);
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

/** Reads the secrets that Nightscreen knows by name, with every mistake in words that do not show them. */
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

// What one schema cannot say. All of these work on settings that are not valid as a whole.

const nameOf = (roster: unknown): unknown =>
  typeof roster === 'object' && roster !== null ? Reflect.get(roster, 'name') : undefined;

/** Rosters that bear the name of an earlier one; works on settings that are not valid as a whole. */
function findDuplicateRosters(settings: unknown): Mistake[] {
  const rosters: unknown = typeof settings === 'object' && settings !== null ? Reflect.get(settings, 'rosters') : [];
  if (!Array.isArray(rosters)) return [];
  const names = rosters.map(nameOf);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === index) return [];
    const message = `another roster has the same name (rosters[${first}]); names must differ`;
    return [{ path: ['rosters', index, 'name'], isAboutKey: false, message }];
  });
}

const secretKey = /^(api_?key|key|private_?key|password|passwd|pass|secret|token|database_?url|smtp_?url)$/i;
const addressKey = /^(url|dsn|connection_?string)$/i;
const secretValue = /^(private|public)_\w{6,}$/;

const holdsPassword = (value: string): boolean => URL.canParse(value) && new URL(value).password !== '';

/** How settings name the variable that holds a secret of theirs, by the beginning of their path. */
const examples: readonly (readonly [string, string])[] = [
  ['rosters', 'postgres: { urlEnv: CORE_DATABASE_URL }'],
  ['webhooks', 'secretEnv: CORE_WEBHOOK_SECRET'],
  ['pings', 'pings: { watchdog: { urlEnv: WATCHDOG_PING_URL } }'],
];

function advise(path: SettingPath): string {
  const place = path.join('.').toLowerCase();
  if (place.startsWith('reports')) return 'link to a place that asks each reader who it is';
  if (/^mail.*(recipients|archive)/.test(place)) {
    return 'remove it here and set NIGHTSCREEN_ARCHIVE_PASSWORD or NIGHTSCREEN_ARCHIVE_PASSWORD_FILE in the environment';
  }
  const example = examples.find(([prefix]) => place.startsWith(prefix))?.[1];
  if (example !== undefined) return `remove it here and name the environment variable that holds it, as in ${example}`;
  const name = /^mail|smtp/.test(place) ? 'SMTP_URL' : /database/.test(place) ? 'DATABASE_URL' : 'NIGHTSCREEN_API_KEY';
  return `remove it here and set ${name} or ${name}_FILE in the environment`;
}

/** Finds secrets that were written into the configuration file, by the name of the key or the look of the value. */
function findMisplacedSecrets(schema: z.ZodType, value: unknown, path: SettingPath = []): Mistake[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findMisplacedSecrets(schema, item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => findMisplacedSecrets(schema, inner, [...path, key]));
  }
  const key = String(path.at(-1));
  const isKnown = listKnownKeys(schema, path.slice(0, -1)).includes(key);
  const isSecretByName =
    !isKnown && value !== null && (secretKey.test(key) || (path.length > 1 && addressKey.test(key)));
  const isSecretByValue = typeof value === 'string' && (secretValue.test(value) || holdsPassword(value));
  if (!isSecretByName && !isSecretByValue) return [];
  return [{ path, isAboutKey: true, message: `a secret is never read from here; ${advise(path)}` }];
}

/** Jobs that are given a schedule and that nobody knows, as far as that can be told: other names belong to the jobs in a folder of their own. */
function findUnknownJobs(settings: unknown): Mistake[] {
  const jobs = readAt(settings, ['jobs']);
  if (typeof jobs !== 'object' || jobs === null || readAt(settings, ['scheduler', 'jobsFolder']) !== undefined)
    return [];
  const known = Object.keys(jobsSettingsSchema.shape);
  return Object.keys(jobs).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = findNearMiss(name, known);
    const advice = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}; more with scheduler.jobsFolder`;
    return [{ path: ['jobs', name], isAboutKey: true, message: `unknown setting; ${advice}` }];
  });
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Where something is restricted to rosters by name. */
const places = [['mail', 'recipients'], ['webhooks']] as const;

/**
 * Rosters that mail or a webhook is restricted to and that nobody has configured: nothing would ever be told of them. Works on settings that
 * are not valid as a whole.
 */
function findUnknownRosters(settings: unknown): Mistake[] {
  const names = toList(readAt(settings, ['rosters'])).flatMap((roster) => {
    const name = readAt(roster, ['name']);
    return typeof name === 'string' ? [name] : [];
  });
  // Without any, every roster is a file that a command names.
  if (names.length === 0) return [];
  return places.flatMap((path) =>
    toList(readAt(settings, [...path])).flatMap((told, index) =>
      toList(readAt(told, ['rosters'])).flatMap((roster, place) => {
        if (typeof roster !== 'string' || names.includes(roster)) return [];
        const meant = findNearMiss(roster, names);
        const message = `no roster has this name; ${meant ? `did you mean ${meant}?` : `there are: ${names.join(', ')}`}`;
        return [{ path: [...path, index, 'rosters', place], isAboutKey: false, message }];
      }),
    ),
  );
}

const addressSettings: readonly (readonly string[])[] = [
  ['service', 'baseUrl'],
  ['service', 'proxy'],
  ['webhooks', '*', 'url'],
  ['metrics', 'pushgateway'],
];

/** Addresses and paths that hold a NUL or another control character: no file has such a name, and an address would become another one. */
function findControlCharacters(settings: unknown): Mistake[] {
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

const keyVariable = 'NIGHTSCREEN_API_KEY';

/** A setting in force and where it comes from. */
interface DescribedSetting {
  path: string;
  value: unknown;
  origin: string;
}

/** Whether a secret is set; a key's `fingerprint` tells two keys apart, and URLs have none because a short password in one could be guessed from it. */
interface DescribedSecret {
  name: string;
  state: 'set' | 'not set' | 'cannot be read';
  fingerprint: string | null;
  from: string | null;
}

function listLeaves(value: unknown, path: SettingPath): { path: SettingPath; value: unknown }[] {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  if (entries.length === 0) return value === undefined ? [] : [{ path, value }];
  return entries.flatMap(([key, inner]) => listLeaves(inner, [...path, key]));
}

function describeSecret(config: Config, name: string): DescribedSecret {
  try {
    const from = config.originOfSecret(name);
    const value = config.secret(name);
    if (value === undefined) return { name, state: 'not set', fingerprint: null, from: null };
    return { name, state: 'set', fingerprint: name === keyVariable ? toKeyFingerprint(value) : null, from };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { name, state: 'cannot be read', fingerprint: null, from: null };
  }
}

/** Every setting with its origin, and of every secret, those that settings name included, only whether it is set. */
export function describeConfig(config: Config): { settings: DescribedSetting[]; secrets: DescribedSecret[] } {
  const settings = listLeaves(config.settings, []).map(({ path, value }) => ({
    path: path.join('.'),
    value,
    origin: config.originOf(path),
  }));
  const names = new Set([...secretNames, ...listNamedSecrets(config.settings)]);
  return { settings, secrets: [...names].map((name) => describeSecret(config, name)) };
}
