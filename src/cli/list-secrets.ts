import type { Config } from '../config/load-config.js';

/** Every secret value that is configured, those of the rosters' own databases included; one that cannot be read is left out. */
export function listSecrets(config: Config): string[] {
  const known = config.secrets.map((secret) => secret.value);
  const ofRosters = config.settings.rosters.flatMap((roster) => {
    try {
      return roster.postgres ? [config.secret(roster.postgres.urlEnv) ?? ''] : [];
    } catch {
      return [];
    }
  });
  return [...known, ...ofRosters].filter((secret) => secret !== '');
}
