import { ConfigError } from '../errors.js';

/** What a flag says, trimmed; throws ConfigError when that is nothing. */
export function requireText(text: string, flag: string): string {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw new ConfigError([{ where: `flag ${flag}`, message: 'is empty', path: '' }]);
}
