import { type Environment, readSecret, secretNames } from '../config/environment.js';

/** The secrets of the environment that can be read, for keeping them out of error messages even when the configuration is wrong. */
export function listEnvironmentSecrets(environment: Environment): string[] {
  return secretNames.flatMap((name) => {
    const plain = environment[name];
    if (plain) return [plain];
    try {
      const secret = readSecret(environment, name);
      return secret ? [secret.value] : [];
    } catch {
      return [];
    }
  });
}
