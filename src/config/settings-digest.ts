import { createHash } from 'node:crypto';
import type { Settings } from './schema.js';

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** SHA-256 (hex) of the settings that shape results; paths, rates and secrets have no part in it. */
export function digestSettings(settings: Settings): string {
  const { service, screening, changes, canaries, sweep } = settings;
  const canonical = JSON.stringify(sortKeys({ aml: service.aml, screening, changes, canaries, sweep }));
  return createHash('sha256').update(canonical).digest('hex');
}
