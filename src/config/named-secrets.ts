/**
 * The variables that the settings name as holding a secret (`urlEnv`, `secretEnv`), each once: connection strings of rosters, secrets of
 * webhooks, addresses of monitors. Settings that are wrong elsewhere may be given too.
 */
export const listNamedSecrets = (settings: unknown): string[] => [...new Set(listNames(settings, deepest))];

// rosters, a roster, parties, one of them, postgres, urlEnv. Aliases of YAML can make a circle.
const deepest = 6;

function listNames(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === 'urlEnv' || key === 'secretEnv') && typeof inner === 'string' ? [inner] : listNames(inner, depth - 1),
  );
}
