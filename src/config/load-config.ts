import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findBaseUrlProblem } from '../client/transport/find-base-url-problem.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { checkSecrets } from './check-secrets.js';
import { describeIssue, type Mistake, readAt } from './describe-issue.js';
import { type Environment, listOverrides, readSecret, type Secret } from './environment.js';
import {
  findControlCharacters,
  findDuplicateRosters,
  findMisplacedSecrets,
  findUnknownJobs,
  findUnknownRosters,
} from './find-mistakes.js';
import { findUnknownVariables } from './find-unknown-variables.js';
import { applyOverride, type Override } from './override.js';
import { resolvePaths } from './resolve-paths.js';
import { configSchema, type Settings } from './schema.js';
import { digestSettings } from './settings-digest.js';
import { readSourceFile, type SettingPath, type SourceFile } from './source-file.js';

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
export function findFileProblems(source: SourceFile, settings = source.value): ConfigProblem[] {
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
