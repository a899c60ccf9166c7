import { ConfigError } from '../errors.js';
import type { MetricsSettings } from './settings.js';

/** The characters of a bearer token (RFC 6750, section 2.1). */
const token = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * The `authorization` header that a push gateway asks for: user and password, or a bearer token; null where it asks for none. Throws
 * ConfigError naming the variable, never its value, when that is not set, cannot be read or is no token.
 */
export function readPushAuthorization(
  { pushgatewayUser: user, pushgatewaySecretEnv: variable }: MetricsSettings,
  secret: (name: string) => string | undefined,
): string | null {
  if (variable === undefined) return null;
  const value = secret(variable);
  const refuse = (message: string): ConfigError => new ConfigError([{ where: `env ${variable}`, path: '', message }]);
  if (value === undefined) throw refuse(`is not set (nor is ${variable}_FILE), and metrics.pushgateway asks for it`);
  if (user !== undefined) return `Basic ${Buffer.from(`${user}:${value}`).toString('base64')}`;
  if (!token.test(value)) {
    throw refuse('is no bearer token (letters, digits and -._~+/); for a password name metrics.pushgatewayUser, too');
  }
  return `Bearer ${value}`;
}
