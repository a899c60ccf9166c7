import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../runs/settings-diff.js';
import type { Settings } from './schema.js';

/** SHA-256 (hex) of the settings that shape what is asked and what counts as a change; whom, when and how fast has no part in it. */
export function digestSettings(settings: Settings): string {
  const { service, changes } = settings;
  return createHash('sha256')
    .update(toCanonicalJson({ aml: service.aml, changes }))
    .digest('hex');
}
