import { parseWebhookSecrets } from '../../webhooks/parse-secrets.js';
import type { Workplace } from '../workplace.js';

/** The keys that sign what goes to each address; throws ConfigError when a secret is missing or none. */
export const readWebhookKeys = ({
  settings,
  secret,
}: Pick<Workplace, 'settings' | 'secret'>): ReadonlyMap<string, readonly Buffer[]> =>
  new Map(
    (settings.webhooks ?? []).map(({ url, secretEnv }) => [url, parseWebhookSecrets(secretEnv, secret(secretEnv))]),
  );
