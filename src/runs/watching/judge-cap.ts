import { detectCap } from './detect-cap.js';

/** What a run shows about the length at which lists are cut: the cap that stands after it, and the one that does not stand any more. */
export interface CapVerdict {
  cap: number | null;
  /** `found` in this run, or `known` before. */
  standing: 'known' | 'found';
  gone: number | null;
}

/**
 * Judges a known cap by a run's answers. It goes when a single list is longer, because then lists are not cut there (any more), or when
 * the answers show a shorter one; that no list is so long says nothing, so it stays.
 */
export function judgeCap(known: number | null, answersByLength: ReadonlyMap<number, number>): CapVerdict {
  const detected = detectCap(answersByLength);
  if (known === null) return { cap: detected, standing: 'found', gone: null };
  const isExceeded = [...answersByLength].some(([length, answers]) => length > known && answers > 0);
  if (detected === known || (detected === null && !isExceeded)) return { cap: known, standing: 'known', gone: null };
  return { cap: detected, standing: 'found', gone: known };
}
