import { ConfigError } from '../../errors.js';

/** The number of a run from its name or from the number itself; throws ConfigError for anything else. */
export function parseRunId(text: string): number {
  const digits = /^(?:\d{4}-\d{2}-\d{2}-[a-z]+-)?(\d{1,15})$/.exec(text.trim())?.[1];
  if (digits === undefined) {
    throw new ConfigError([
      { where: 'run', path: '', message: `"${text}" is no run id; \`nightscreen runs list\` shows them` },
    ]);
  }
  return Number(digits);
}
