import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { findKeyProblem } from '../client/credentials.js';
import { ConfigError, type ConfigProblem, flagError } from '../errors.js';
import { isSafeUrl } from '../loopback.js';
import { findNearMiss } from '../near-miss.js';
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
import { findMistakes, listTexts, type Mistake, pathSettings } from './mistakes.js';
import { configSchema, digestSettings, fileSchema, organisationGroups } from './schema.js';
import { readSourceFile, type SourceFile } from './source-file.js';

/** The sources of a configuration; `flags` are settings of the command line. */
export interface ConfigSources {
  environment: Environment;
  /** The base of relative paths in flags and variables. */
  folder: string;
  /** The file named by `--config`; it must exist. */
  file?: string | undefined;
  flags?: readonly Override[];
}

/** The effective configuration of one organisation, and the origin of each part. */
export interface Config {
  settings: ReturnType<typeof configSchema.parse> & { organisation: string };
  /** The configuration file as it was named, or null when there is none. */
  file: string | null;
  settingsDigest: string;
  secrets: readonly Secret[];
  /** The names of all organisations of the file. */
  organisations: readonly string[];
  /** The organisation that printed commands name; undefined where the file has no `organisations`. */
  nameInCommands?: string | undefined;
  /** The variable that holds a secret with a fixed name, by which code below asks for it. */
  variableOf: (name: string) => string;
  /** Why the key of one of several organisations cannot be used; a single one is refused at once. */
  keyProblems: readonly ConfigProblem[];
  /** A secret by variable name, `NAME_FILE` included; throws ConfigError when its file cannot be read. */
  secret: (name: string) => string | undefined;
  /** `default`, `file:line`, `env NAME` or the flag. */
  originOf: (path: SettingPath) => string;
}

/** One organisation exists without any configuration. */
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

/** The mistakes with their places in the file, which has each at `toPath`; of broken YAML only those before the break. */
function locateMistakes(
  source: SourceFile,
  mistakes: readonly Mistake[],
  toPath = (path: SettingPath): SettingPath => path,
): ConfigProblem[] {
  return mistakes.flatMap(({ path: found, isAboutKey, message }) => {
    const path = toPath(found);
    const place = source.locate(path, isAboutKey);
    const isWhole = source.brokenFromLine === null || (place.isExact && place.line < source.brokenFromLine);
    return isWhole ? [{ where: place.where, path: formatPath(path), message }] : [];
  });
}

/** The settings that the environment overrides; an empty variable counts as not set. */
const listOverrides = (environment: Environment): Override[] =>
  variables.flatMap(({ name, overrides }) => {
    // Values from files or commands often end with a line break.
    const value = environment[name]?.replace(/(?<![\r\n])[\r\n]+$/, '');
    return overrides && value ? [{ path: overrides, value, origin: `env ${name}` }] : [];
  });

const { database, reports, evidence } = configSchema.parse({});
/** Relative to the configuration file, as the paths that it names; without one, to the folder of the command. */
const defaultFolders = {
  database: { folder: database.folder },
  reports: { dir: reports.dir },
  evidence: { dir: evidence.dir },
};

/** An entry of `organisations` as it is written, at its place. */
interface OwnSettings {
  path: SettingPath;
  name: string;
  apiKeyEnv: string;
  groups: Record<string, unknown>;
}

const isOwnGroup = (key: string): boolean => organisationGroups.includes(key);

/** The groups of entries that are valid enough to be checked. */
const listOwnSettings = (organisations: unknown): OwnSettings[] =>
  (Array.isArray(organisations) ? organisations : []).flatMap((entry: unknown, index) => {
    if (!isGroup(entry)) return [];
    const { name, apiKeyEnv, ...others } = entry;
    const groups = Object.fromEntries(Object.entries(others).filter(([key]) => isOwnGroup(key)));
    const path = ['organisations', index];
    return [{ path, name: String(name), apiKeyEnv: String(apiKeyEnv), groups }];
  });

/** The mistakes of `organisations` itself, and what stands beside it although only one organisation can have it. */
function findOrganisationMistakes(file: Record<string, unknown>): Mistake[] {
  const { organisations, rosters } = file;
  // Their groups are checked with those of the top level below them.
  const hide = (entry: unknown): unknown =>
    isGroup(entry)
      ? Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, isOwnGroup(key) ? null : value]))
      : entry;
  const heads = Array.isArray(organisations) ? organisations.map(hide) : organisations;
  const message = 'each organisation has its own: move them into the entries of organisations';
  return [
    ...findMistakes({ organisations: heads }, fileSchema),
    ...(rosters === undefined ? [] : [{ path: ['rosters'], isAboutKey: true, message }]),
  ];
}

const runFolders = [
  ['reports', 'dir'],
  ['reports', 'publishTo'],
  ['evidence', 'dir'],
] as const;

/** The folders of reports and of evidence get a folder for each organisation, because runs of two can have the same name. */
const separateFolders = (settings: unknown, name: string): unknown =>
  runFolders
    .flatMap((pattern) => listTexts(settings, pattern))
    .reduce((separate, { path, text }) => replaceAt(separate, path, join(text, name)), settings);

/** How many keys of the path exist. */
function countKnown(value: unknown, [key, ...rest]: SettingPath): number {
  if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return 0;
  return 1 + countKnown(Reflect.get(value, key), rest);
}

/**
 * Composes file, environment and flags (the later wins) into the configuration of each organisation: the top level, overlaid with what its
 * entry has. Throws one ConfigError with every mistake, each with its file, line and column, its variable, or its flag.
 */
export function loadConfigs(sources: ConfigSources): readonly Config[] {
  const source = openSourceFile(sources);
  const base = source ? dirname(source.file) : sources.folder;
  const file = isGroup(source?.value) ? source.value : {};
  const { organisations, ...common } = file;
  const fromFile = merge(defaultFolders, organisations === undefined ? (source?.value ?? {}) : common);
  const overrides: Override[] = [...listOverrides(sources.environment), ...(sources.flags ?? [])];
  const value = resolvePaths(overrides.reduce<unknown>(applyOverride, resolvePaths(fromFile, base)), sources.folder);
  const parts = { sources, source, base, common, overrides, value };
  const owned = organisations === undefined ? [null] : listOwnSettings(organisations);
  const ofFile =
    source === null
      ? []
      : organisations === undefined
        ? findMistakes(source.value, fileSchema)
        : findOrganisationMistakes(file);
  const names = owned.map((own) => own?.name ?? onlyOrganisation);
  const composed = owned.map((own) => composeConfig({ ...parts, names }, own));
  const configs = refuseSharedKeys(composed.flatMap(({ config }) => config ?? []));
  const problems = [
    ...composed.flatMap((each) => each.problems),
    ...(source ? [...source.problems, ...locateMistakes(source, ofFile), ...findShared(source, configs)] : []),
  ];
  if (problems.length > 0 || configs.length < owned.length) {
    // The unread part behind a break of the YAML may name any variable.
    const unknown = findUnknownVariables(sources.environment, [value, source?.value]).filter(
      ({ meant }) => meant !== null || (source?.brokenFromLine ?? null) === null,
    );
    throw new ConfigError(sortByPlace([...problems, ...unknown.map(toUnknownProblem)]));
  }
  return configs;
}

/** The configuration of the named organisation, or of the only one; throws ConfigError. */
export function chooseConfig(configs: readonly Config[], name?: string): Config {
  const names = configs.map(({ settings }) => settings.organisation);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  const found = configs.find(({ settings }) => settings.organisation === chosen);
  if (found) return found;
  const listed = names.join(', ');
  if (name === undefined) throw flagError('--organisation', `is missing, and several are configured: name ${listed}`);
  const meant = findNearMiss(name, names);
  const advice = meant === null ? `there are: ${listed}` : `did you mean ${meant}?`;
  throw flagError('--organisation', `no organisation is named ${name}; ${advice}`);
}

export const loadConfig = (sources: ConfigSources): Config => chooseConfig(loadConfigs(sources));

/** What the organisations of a file have in common; `value` is the top level with variables and flags. */
interface ConfigParts {
  sources: ConfigSources;
  source: SourceFile | null;
  base: string;
  common: Record<string, unknown>;
  overrides: readonly Override[];
  value: unknown;
  names: readonly string[];
}

/** An organisation may have its own: `NORTH_SMTP_URL` comes before `SMTP_URL`. */
const mailSecrets: ReadonlySet<string> = new Set(['SMTP_URL', 'NIGHTSCREEN_ARCHIVE_PASSWORD']);

function composeConfig(
  { sources, source, base, common, overrides, value: top, names }: ConfigParts,
  own: OwnSettings | null,
): { config: Config | null; problems: readonly ConfigProblem[] } {
  const { environment } = sources;
  const { name = onlyOrganisation, apiKeyEnv = keyVariable, groups = {} } = own ?? {};
  const value = own === null ? top : merge(separateFolders(top, name), resolvePaths(groups, base));
  const isOwn = (path: SettingPath): boolean => countKnown(groups, path) === path.length;
  const overrideAt = (path: SettingPath): Override | undefined =>
    isOwn(path) ? undefined : overrides.findLast((override) => startsWith(path, override.path));
  const toPath = (path: SettingPath): SettingPath => {
    const known = countKnown(groups, path);
    return own !== null && known > 0 && known >= countKnown(common, path) ? [...own.path, ...path] : path;
  };
  const parsed = configSchema.safeParse(value);
  const variableOf = (secret: string): string => {
    if (secret === keyVariable) return apiKeyEnv;
    const ofOwn = `${name.toUpperCase().replaceAll('-', '_')}_${secret}`;
    const hasOwn = own !== null && mailSecrets.has(secret);
    return hasOwn && (environment[ofOwn] || environment[`${ofOwn}_FILE`]) ? ofOwn : secret;
  };
  const checked = checkSecrets(environment, parsed.data?.service.mode, variableOf);
  const mistakes = findMistakes(value, fileSchema);
  const fromOverrides = mistakes.flatMap(({ path, message }) => {
    const override = overrideAt(path);
    return override ? [{ where: override.origin, path: formatPath(path), message }] : [];
  });
  // The settings of a single organisation are those of the file, whose mistakes count also where a variable replaces them.
  const fromEntry = own && source ? mistakes.filter(({ path }) => !overrideAt(path)) : [];
  const hooks = (parsed.data?.webhooks ?? []).map(({ url }) => url);
  const addresses = [parsed.data?.service.baseUrl, ...hooks, ...checked.secrets.map((secret) => secret.value)];
  const problems = [
    ...fromOverrides,
    ...(own === null ? checked.keyProblems : []),
    ...checked.problems,
    ...findUnverifiedTls(environment, value, addresses),
    ...(source ? locateMistakes(source, fromEntry, toPath) : []),
  ];
  if (!parsed.success) return { config: null, problems };
  const hasUsableKey = checked.keyProblems.length === 0;
  return {
    problems,
    config: {
      settings: { ...parsed.data, organisation: name },
      file: source ? source.file : null,
      settingsDigest: digestSettings(parsed.data),
      organisations: names,
      nameInCommands: own?.name,
      secrets: checked.secrets,
      variableOf,
      keyProblems: checked.keyProblems,
      secret: (asked) => {
        const isUsable = asked !== keyVariable || hasUsableKey;
        return isUsable ? readSecret(environment, variableOf(asked))?.value : undefined;
      },
      originOf: (path) => {
        const override = overrideAt(path);
        if (override) return override.origin;
        const place = source?.locate(own && path[0] === 'organisation' ? [...own.path, 'name'] : toPath(path), true);
        return place?.isExact ? place.where.replace(/:\d+$/, '') : 'default';
      },
    },
  };
}

/** The key of an account is that of the first organisation with it: another one would sweep its dossiers and spend its budget. */
const refuseSharedKeys = (configs: readonly Config[]): readonly Config[] => {
  const keys = configs.map((config) => config.secrets.find(({ name }) => name === keyVariable)?.value);
  return configs.map((config, index) => {
    const owner = configs[keys.indexOf(keys[index])];
    if (keys[index] === undefined || owner === undefined || owner === config) return config;
    const message = `holds the key of organisation ${owner.settings.organisation}; each organisation needs its own account`;
    return { ...config, keyProblems: [{ where: `env ${config.variableOf(keyVariable)}`, path: '', message }] };
  });
};

/** What two organisations must not share, because nothing in it says whose it is. */
function findShared(source: SourceFile, configs: readonly Config[]): ConfigProblem[] {
  const taken = new Map<string, string>();
  return configs.flatMap(({ settings: { organisation, reports, evidence, webhooks } }, index) => {
    const claims: readonly (readonly [SettingPath, string])[] = [
      [['reports', 'dir'], resolve(reports.dir)],
      ...(reports.publishTo === undefined ? [] : [[['reports', 'publishTo'], resolve(reports.publishTo)] as const]),
      ...(evidence.dir === null ? [] : [[['evidence', 'dir'], resolve(evidence.dir)] as const]),
      ...webhooks.map(({ url }, at) => [['webhooks', at, 'url'], url] as const),
    ];
    return claims.flatMap(([path, claimed]) => {
      const owner = taken.get(claimed) ?? organisation;
      taken.set(claimed, owner);
      if (owner === organisation) return [];
      const message = `${claimed} also belongs to organisation ${owner}, whose customers and runs can have the same names: name another`;
      const inEntry: SettingPath = ['organisations', index, ...path];
      const place = source.locate(path, false).isExact && !source.locate(inEntry, false).isExact ? path : inEntry;
      return locateMistakes(source, [{ path: place, isAboutKey: false, message }]);
    });
  });
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
  if (secret.name === 'EVIDENCE_KEY') {
    const isKeys = secret.value.split(',').every((key) => Buffer.from(key.trim(), 'base64').length === 32);
    return isKeys ? undefined : 'is no key of 32 bytes in base64; make one with `openssl rand -base64 32`';
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

/** Reads the secrets with fixed names from their variables; the messages of mistakes do not show values. */
function checkSecrets(environment: Environment, mode: RunMode | undefined, variableOf: Config['variableOf']) {
  const secrets: Secret[] = [];
  const problems: ConfigProblem[] = [];
  const keyProblems: ConfigProblem[] = [];
  for (const name of secretNames) {
    const found = name === keyVariable ? keyProblems : problems;
    try {
      const secret = readSecret(environment, variableOf(name));
      if (!secret) continue;
      secrets.push({ ...secret, name });
      const message = findProblem({ ...secret, name }, mode);
      if (message) found.push({ where: `env ${secret.from}`, path: '', message });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      found.push(...error.problems);
    }
  }
  return { secrets, problems, keyProblems };
}

/**
 * The settings in force, overlaid with those of a file: groups are merged, lists and values replaced, other settings unchanged. Throws
 * ConfigError with every mistake and its line in the file.
 */
export function overlaySettings(settings: Config['settings'], folder: string, file: string): Config['settings'] {
  const source = readSourceFile(resolve(folder, file), file);
  const { organisation, ...inForce } = settings;
  const merged = merge(inForce, source.value);
  const problems = [...source.problems, ...locateMistakes(source, findMistakes(merged))];
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

/** Settings with relative paths resolved from the folder; `-` is standard input. */
function resolvePaths(value: unknown, folder: string): unknown {
  const texts = pathSettings.flatMap((pattern) => listTexts(value, pattern));
  const relative = texts.filter(({ text }) => text !== '-' && !isAbsolute(text));
  return relative.reduce((settings, { path, text }) => replaceAt(settings, path, resolve(folder, text)), value);
}
