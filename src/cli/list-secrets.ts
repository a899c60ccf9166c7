import type { Config } from '../config/load-config.js';
import { pingedWork } from '../webhooks/ping-settings.js';

/** Every secret value that is configured, those of the rosters' own databases and of webhooks and pings included; one that cannot be read is left out. */
export function listSecrets(config: Config): string[] {
  const known = config.secrets.map((secret) => secret.value);
  const sources = config.settings.rosters.flatMap((roster) => [roster, ...roster.parties]);
  const ofRosters = sources.flatMap(({ postgres }) => {
    try {
      return postgres ? [config.secret(postgres.urlEnv) ?? ''] : [];
    } catch {
      return [];
    }
  });
  const ofWebhooks = config.settings.webhooks.flatMap(({ secretEnv }) => {
    try {
      return (config.secret(secretEnv) ?? '').split(/\s+/);
    } catch {
      return [];
    }
  });
  const ofPings = pingedWork.flatMap((work) => {
    const urlEnv = config.settings.pings[work]?.urlEnv;
    try {
      return urlEnv === undefined ? [] : [config.secret(urlEnv) ?? ''];
    } catch {
      return [];
    }
  });
  return [...known, ...ofRosters, ...ofWebhooks, ...ofPings].filter((secret) => secret !== '');
}
