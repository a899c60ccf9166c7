import { ConfigError } from '../../errors.js';

/** What is wrong with a list, where it stands, and what to do about it; nothing has been spent by then. */
export function toListError(path: string, line: number | null, message: string, cause?: unknown): ConfigError {
  const where = line === null ? path : `${path}:${line}`;
  return new ConfigError([{ where, path: '', message }], cause === undefined ? {} : { cause });
}
