import type { z } from 'zod';
import type { Mistake } from './describe-issue.js';
import { listKnownKeys } from './describe-schema.js';
import type { SettingPath } from './source-file.js';

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
