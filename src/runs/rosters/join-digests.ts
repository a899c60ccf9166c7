import { createHash } from 'node:crypto';

/** Gives one digest for the sources of a roster: of a single one its own, of several that of all of theirs. */
export function joinDigests(digests: readonly string[]): string {
  const [only, ...others] = digests;
  if (only !== undefined && others.length === 0) return only;
  return createHash('sha256').update(digests.join('\n')).digest('hex');
}
