import { findKeyProblem } from '../client/calls/api-key.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { type Environment, readSecret, type Secret, secretNames } from './environment.js';

const protocolsByName: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: ['postgres:', 'postgresql:'],
  SMTP_URL: ['smtp:', 'smtps:'],
};

function findUrlProblem(secret: Secret): string | undefined {
  const protocols = protocolsByName[secret.name] ?? [];
  const expected = protocols.map((protocol) => `${protocol}//`).join(' or ');
  if (!URL.canParse(secret.value)) return `is not a URL (expected ${expected}...)`;
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
      const message = name === 'NIGHTSCREEN_API_KEY' ? findKeyProblem(secret.value, mode) : findUrlProblem(secret);
      if (message) problems.push({ where: `env ${secret.from}`, path: '', message });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  return { secrets, problems };
}
