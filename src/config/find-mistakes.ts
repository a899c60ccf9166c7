import type { z } from 'zod';
import { jobsSettingsSchema } from '../scheduling/settings.js';
import { type Mistake, readAt } from './describe-issue.js';
import { listKnownKeys } from './describe-schema.js';
import { findNearMiss } from './near-miss.js';
import { pathSettings } from './resolve-paths.js';
import type { SettingPath } from './source-file.js';

// What one schema cannot say. All of these work on settings that are not valid as a whole.

const nameOf = (roster: unknown): unknown =>
  typeof roster === 'object' && roster !== null ? Reflect.get(roster, 'name') : undefined;

/** Rosters that bear the name of an earlier one; works on settings that are not valid as a whole. */
export function findDuplicateRosters(settings: unknown): Mistake[] {
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
  ['pings', 'pings: { rescreen: { urlEnv: RESCREEN_PING_URL } }'],
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
export function findMisplacedSecrets(schema: z.ZodType, value: unknown, path: SettingPath = []): Mistake[] {
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
export function findUnknownJobs(settings: unknown): Mistake[] {
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
export function findUnknownRosters(settings: unknown): Mistake[] {
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
