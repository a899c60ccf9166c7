import type { Reviewer } from '../reviewing/decide-items.js';

/** Somebody's word, and why. */
export interface Acceptance {
  by: Reviewer;
  reason: string;
}
