import type { Agreement } from './judge-names.js';

/**
 * Whether two names may well mean the same party. It would rather say yes once too often: two words in common that make up half of both
 * names or most of one; one word, where one of the names has no other; one rare word in common. Names of different types have to agree
 * almost wholly.
 */
export function isAlike({ ofListed, ofAsked, words, strongest }: Agreement, isOtherType: boolean): boolean {
  const least = Math.min(ofListed, ofAsked);
  const most = Math.max(ofListed, ofAsked);
  if (isOtherType) return least >= 0.8;
  if (words >= 2) return least >= 0.5 || (most >= 0.8 && least >= 0.3) || (strongest >= 0.9 && least >= 0.4);
  if (most >= 0.85 && least >= 0.7) return true;
  if (ofAsked >= 0.9 && strongest >= 0.8) return true;
  return strongest >= 0.5 && least >= 0.4 && (most >= 0.9 || strongest >= 0.9);
}
