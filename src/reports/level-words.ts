import type { VerdictLevel } from './verdict.js';

/** How far a run may be relied on, as a heading. */
export const levelWords: Readonly<Record<VerdictLevel, string>> = {
  complete: 'Complete',
  partial: 'Partial',
  red: 'Red: do not rely on this run',
};
