import { flagError } from '../errors.js';

/** What a flag says, trimmed; throws ConfigError when that is nothing. */
export function requireText(text: string, flag: string): string {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw flagError(flag, 'is empty');
}
