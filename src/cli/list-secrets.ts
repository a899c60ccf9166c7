import type { Config } from '../config/load-config.js';
import { listNamedSecrets } from '../config/named-secrets.js';

/** Every secret value that is configured, those of the rosters' own databases, webhooks and pings included; one that cannot be read is left out. */
export function listSecrets(config: Config): string[] {
  const known = config.secrets.map((secret) => secret.value);
  const named = listNamedSecrets(config.settings).flatMap((name) => {
    try {
      const value = config.secret(name) ?? '';
      // A variable may hold two secrets while one takes the place of the other.
      return [value, ...value.split(/\s+/)];
    } catch {
      return [];
    }
  });
  return [...known, ...named].filter((secret) => secret !== '');
}
