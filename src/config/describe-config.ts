import { toKeyFingerprint } from '../client/calls/api-key.js';
import { ConfigError } from '../errors.js';
import { secretNames } from './environment.js';
import type { Config } from './load-config.js';
import { listNamedSecrets } from './named-secrets.js';
import type { SettingPath } from './source-file.js';

const keyVariable = 'NIGHTSCREEN_API_KEY';

/** A setting in force and where it comes from. */
export interface DescribedSetting {
  path: string;
  value: unknown;
  origin: string;
}

/** Whether a secret is set; a key's `fingerprint` tells two keys apart, and URLs have none because a short password in one could be guessed from it. */
export interface DescribedSecret {
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
