import { findKeyProblem } from '../client/calls/api-key.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { type Environment, readSecret, type Secret, secretNames } from './environment.js';

const protocolsByName: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: ['postgres:', 'postgresql:'],
  SMTP_URL: ['smtp:', 'smtps:'],
};

/** What travels through many gateways has to withstand guessing by machine. */
const leastPasswordLength = 12;

function findProblem(secret: Secret, mode: 'test' | 'live' | undefined): string | undefined {
  if (secret.name === 'NIGHTSCREEN_API_KEY') return findKeyProblem(secret.value, mode);
  if (secret.name !== 'NIGHTSCREEN_ARCHIVE_PASSWORD') return findUrlProblem(secret);
  const isShort = secret.value.length < leastPasswordLength;
  return isShort ? `must have at least ${leastPasswordLength} characters` : undefined;
}

function findUrlProblem(secret: Secret): string | undefined {
  const protocols = protocolsByName[secret.name] ?? [];
  const expected = protocols.map((protocol) => `${protocol}//`).join(' or ');
  if (!URL.canParse(secret.value))
    return `is not a URL (expected ${expected}...; in a password, characters such as # / ? and @ are percent-encoded: # is %23)`;
  return protocols.includes(new URL(secret.value).protocol) ? undefined : `must begin with ${expected}`;
}

/** Reads the secrets that Nightscreen knows by name, with every mistake in words that do not show them. */
export function checkSecrets(
  environment: Environment,
  mode: 'test' | 'live' | undefined,
): { secrets: Secret[]; problems: ConfigProblem[] } {
  const secrets: Secret[] = [];
  const problems: ConfigProblem[] = [];
  for (const name of secretNames) {
    try {
      const secret = readSecret(environment, name);
      if (!secret) continue;
      secrets.push(secret);
      const message = findProblem(secret, mode);
      if (message) problems.push({ where: `env ${secret.from}`, path: '', message });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  return { secrets, problems };
}
