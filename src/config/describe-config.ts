import { toKeyFingerprint } from '../client/calls/api-key.js';
import { secretNames } from './environment.js';
import type { Config } from './load-config.js';
import type { SettingPath } from './source-file.js';

/** A setting in force and where it comes from. */
export interface DescribedSetting {
  path: string;
  value: unknown;
  origin: string;
}

/** Whether a secret is set; a key's `fingerprint` tells two keys apart, and URLs have none because a short password in one could be guessed from it. */
export interface DescribedSecret {
  name: string;
  state: 'set' | 'not set';
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

/** Every setting with its origin, and of every secret only whether it is set. */
export function describeConfig(config: Config): { settings: DescribedSetting[]; secrets: DescribedSecret[] } {
  const settings = listLeaves(config.settings, []).map(({ path, value }) => ({
    path: path.join('.'),
    value,
    origin: config.originOf(path),
  }));
  const secrets = secretNames.map((name): DescribedSecret => {
    const secret = config.secrets.find((each) => each.name === name);
    if (!secret) return { name, state: 'not set', fingerprint: null, from: null };
    return {
      name,
      state: 'set',
      fingerprint: name === 'NIGHTSCREEN_API_KEY' ? toKeyFingerprint(secret.value) : null,
      from: secret.from,
    };
  });
  return { settings, secrets };
}
