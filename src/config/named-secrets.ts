import { pingedWork } from '../webhooks/ping-settings.js';
import type { Settings } from './schema.js';

/**
 * The variables that the settings name as holding a secret, each once: connection strings of rosters, secrets of webhooks, addresses of
 * monitors.
 */
export function listNamedSecrets({ rosters, webhooks, pings }: Settings): string[] {
  const sources = rosters.flatMap((roster) => [roster, ...roster.parties]);
  const ofRosters = sources.flatMap(({ postgres }) => (postgres ? [postgres.urlEnv] : []));
  const ofPings = pingedWork.flatMap((work) => pings[work]?.urlEnv ?? []);
  return [...new Set([ofRosters, webhooks.map(({ secretEnv }) => secretEnv), ofPings].flat())];
}
