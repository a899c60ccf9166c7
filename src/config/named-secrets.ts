import type { Settings } from './schema.js';

/** The variables that the settings name as holding a secret, each once: connection strings of rosters, secrets of webhooks. */
export function listNamedSecrets({ rosters, webhooks }: Settings): string[] {
  const sources = rosters.flatMap((roster) => [roster, ...roster.parties]);
  const ofRosters = sources.flatMap(({ postgres }) => (postgres ? [postgres.urlEnv] : []));
  return [...new Set([...ofRosters, ...webhooks.map(({ secretEnv }) => secretEnv)])];
}
