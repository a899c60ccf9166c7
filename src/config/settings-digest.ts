import { createHash } from 'node:crypto';
import type { Settings } from './schema.js';

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** SHA-256 (hex) of the settings that shape what is asked and what counts as a change; whom, when and how fast has no part in it. */
export function digestSettings(settings: Settings): string {
  const { service, changes } = settings;
  const canonical = JSON.stringify(sortKeys({ aml: service.aml, changes }));
  return createHash('sha256').update(canonical).digest('hex');
}
