import { ConfigError } from '../errors.js';

/**
 * The keys of a webhook's secret, `whsec_` and base64 of 24 to 64 bytes; two of them, apart by a space, while one takes the place of the other.
 * Throws ConfigError naming the variable, never its value.
 */
export function parseWebhookSecrets(variable: string, text: string | undefined): readonly Buffer[] {
  const fail = (message: string): ConfigError => new ConfigError([{ where: `env ${variable}`, path: '', message }]);
  const words = text?.split(/\s+/).filter((word) => word !== '') ?? [];
  if (words.length === 0)
    throw fail('is not set; a webhook signs with its secret (openssl rand -base64 32, after whsec_)');
  if (words.length > 2) throw fail('holds more than two secrets');
  return words.map((word) => {
    const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(word) ?? [];
    const key = Buffer.from(encoded, 'base64');
    if (key.length >= 24 && key.length <= 64) return key;
    throw fail('must be whsec_ and the base64 of 24 to 64 random bytes');
  });
}
