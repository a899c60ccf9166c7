import { createHash } from 'node:crypto';

/** How much later than it is due a job is begun, below `jitterMs`: the same for the same words, on every host and after every restart. */
export function toJitterMs(jitterMs: number, ...words: readonly string[]): number {
  const digest = createHash('sha256').update(words.join('\n')).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * jitterMs);
}
