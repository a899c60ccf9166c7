import { readFileSync } from 'node:fs';
import { type ConfigProblem, usageError } from '../errors.js';
import { findOddFile } from '../files.js';
import { isLoopback } from '../loopback.js';
import { findNearMiss } from '../near-miss.js';

/** The path of a setting: keys and list positions from the top. */
export type SettingPath = readonly (string | number)[];

/** Whether a setting is, or lies in, the one at `prefix`. */
export const startsWith = (path: SettingPath, prefix: SettingPath): boolean =>
  prefix.every((key, at) => path[at] === key);

/** An environment variable that Nightscreen reads. */
export interface Variable {
  name: string;
  /** For the reference and `.env.example`. */
  meaning: string;
  /** A secret may also be given as the file that `NAME_FILE` names, and is never shown. */
  isSecret: boolean;
  /** The setting that it overrides. */
  overrides?: SettingPath;
  example: string;
}

const plain = (name: string, meaning: string, example: string): Variable => ({
  name,
  meaning,
  isSecret: false,
  example,
});

const secret = (name: string, meaning: string, example: string): Variable => ({
  ...plain(name, meaning, example),
  isSecret: true,
});

const overriding = (name: string, path: SettingPath, example: string): Variable => ({
  ...plain(name, `overrides \`${path.join('.')}\``, example),
  overrides: path,
});

export const keyVariable = 'NIGHTSCREEN_API_KEY';

/** The variable with the address of the monitor that the watchdog pings. */
export const pingVariable = 'NIGHTSCREEN_PING_URL';

/** Every variable with a fixed name; settings name further ones (`urlEnv`, `secretEnv`, `apiKeyEnv`). */
export const variables: readonly Variable[] = [
  secret(keyVariable, 'private key of the service', 'private_sandbox_...'),
  secret(
    'DATABASE_URL',
    '`postgres://` or `postgresql://` URL; absent means the embedded database',
    'postgres://nightscreen:...@db.example:5432/nightscreen?sslmode=verify-full',
  ),
  secret(
    'EVIDENCE_KEY',
    'wraps the keys of evidence: 32 bytes in base64 (`openssl rand -base64 32`); the first wraps, each of several opens',
    '3q2+7w...,former...',
  ),
  secret(
    'SMTP_URL',
    'mail server: `smtp://user:password@host:port` or `smtps://...`, without options after the host',
    'smtps://nightscreen:...@mail.example:465',
  ),
  secret(
    'NIGHTSCREEN_ARCHIVE_PASSWORD',
    'password of the archives that are mailed with `attach: archive`; at least 12 characters',
    '...',
  ),
  secret(
    pingVariable,
    'address of the monitor that the watchdog pings at the start and the end of each check',
    'https://monitor.example/...',
  ),
  overriding('NIGHTSCREEN_BASE_URL', ['service', 'baseUrl'], 'https://service.example/v1'),
  overriding('NIGHTSCREEN_DATA', ['database', 'folder'], '/var/lib/nightscreen/data'),
  overriding('NIGHTSCREEN_REPORTS', ['reports', 'dir'], '/var/lib/nightscreen/reports'),
  overriding('NIGHTSCREEN_LISTEN_KEY', ['listen', 'key'], '/etc/nightscreen/events.pem'),
  overriding('NIGHTSCREEN_LOG_LEVEL', ['log', 'level'], 'info'),
  plain(
    'NIGHTSCREEN_CONFIG',
    'the configuration file, if `--config` names none',
    '/etc/nightscreen/nightscreen.config.yaml',
  ),
  plain(
    'HTTPS_PROXY',
    'the proxy for all requests that leave the machine; its address may hold `user:password@`',
    'http://proxy.example:3128',
  ),
  plain('NO_PROXY', 'hosts that are reached without the proxy, separated by commas', 'db.example,.internal.example'),
  plain('CHROMIUM_PATH', 'the browser that prints `report --pdf`, if none is on the PATH', '/usr/bin/chromium'),
  plain('NO_COLOR', 'any value: no colours on a terminal', '1'),
];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The secrets with fixed names; each may also be given as `NAME_FILE`. */
export const secretNames: readonly string[] = variables.flatMap(({ name, isSecret }) => (isSecret ? [name] : []));

/** A secret and the variable that gave it. */
export interface Secret {
  name: string;
  value: string;
  /** `NAME` or `NAME_FILE`. */
  from: string;
}

/** Reads a secret from `NAME` or from the file that `NAME_FILE` names; undefined when neither is set; throws ConfigError. */
export function readSecret(environment: Environment, name: string): Secret | undefined {
  const fileVariable = `${name}_FILE`;
  const value = environment[name]?.trim();
  const file = environment[fileVariable];
  if (value && file) throw usageError(`env ${fileVariable}`, `is set together with ${name}; set only one`);
  if (value) return { name, value, from: name };
  if (!file) return undefined;
  const odd = findOddFile(file);
  if (odd !== null) throw usageError(`env ${fileVariable}`, `names a file that ${odd} (${file})`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw usageError(`env ${fileVariable}`, `names a file that cannot be read (${file})`, error);
  }
  if (text === '') throw usageError(`env ${fileVariable}`, `names an empty file (${file})`);
  return { name, value: text, from: fileVariable };
}

/** A setting from outside of the file, and its origin: `env NAME` or the flag. */
export interface Override {
  path: SettingPath;
  value: unknown;
  origin: string;
}

/** The variables that settings name for a secret, each once; the settings need not be valid. */
export const listNamedSecrets = (settings: unknown): string[] => [...new Set(listNames(settings, deepest))];

// organisations, one of them, rosters, a roster, parties, one of them, postgres, urlEnv. YAML aliases can form a circle.
const deepest = 8;
const namesOfSecrets: ReadonlySet<string> = new Set(['urlEnv', 'secretEnv', 'apiKeyEnv']);

function listNames(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    namesOfSecrets.has(key) && typeof inner === 'string' ? [inner] : listNames(inner, depth - 1),
  );
}

const tlsVariable = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** The host of an address on another machine, by which Postgres too may be named; null for this machine and for other texts. */
function findRemoteHost(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const host = url.searchParams.get('host') ?? url.hostname;
  return host === '' || host.startsWith('/') || isLoopback({ hostname: host }) ? null : host;
}

/** Refuses a process that verifies no certificate, unless each of these addresses, and of those in its secrets, is this machine. */
export function findUnverifiedTls(
  environment: Environment,
  settings: unknown,
  addresses: readonly (string | undefined)[],
): ConfigProblem[] {
  if (environment[tlsVariable] !== '0') return [];
  const secrets = [...secretNames, ...listNamedSecrets(settings)].map((name) => {
    try {
      return readSecret(environment, name)?.value;
    } catch {
      return undefined;
    }
  });
  const hosts = [...addresses, ...secrets].map((address) => findRemoteHost(address ?? ''));
  const host = hosts.find((each) => each !== null);
  if (host === undefined) return [];
  const message = `is 0, so no certificate is verified: every server that answers for ${host} gets secrets and can invent answers. Remove it; for a private authority, set NODE_EXTRA_CA_CERTS to the file of its certificate`;
  return [{ where: `env ${tlsVariable}`, path: '', message }];
}

const prefix = 'NIGHTSCREEN_';
/** Read by the tests and by the example tracer, not by the program. */
const foreign = /^NIGHTSCREEN_(?:TEST|TRACE)_/;

/** The unknown variables `NIGHTSCREEN_...`, each with a similar known name, or null. */
export function findUnknownVariables(
  environment: Environment,
  settings: unknown,
): { name: string; meant: string | null }[] {
  const named = listNamedSecrets(settings);
  const files = [...named, ...secretNames].map((name) => `${name}_FILE`);
  const known = [...variables.map(({ name }) => name), ...named, ...files];
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !foreign.test(name) && !known.includes(name))
    .toSorted()
    .map((name) => ({ name, meant: findMeant(name, known) }));
}

/** Compares names without the prefix, which most of them share. */
function findMeant(name: string, known: readonly string[]): string | null {
  const shorten = (each: string): string => (each.startsWith(prefix) ? each.slice(prefix.length) : each);
  const meant = findNearMiss(shorten(name), known.map(shorten));
  return known.find((each) => shorten(each) === meant) ?? null;
}
