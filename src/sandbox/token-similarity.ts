import type { NameToken } from './fold-name.js';
import { jaroWinkler } from './jaro-winkler.js';

/** Two words closer than this may stand for one another; below it they are different words. */
export const MIN_TOKEN_SIMILARITY = 0.82;

const SAME_SOUND = 0.97;
const SAME_SKELETON = 0.9;
const SAME_SKELETON_VOWELLESS = 0.94;
/** How alike a word and its initial are taken to be. */
export const INITIAL_SIMILARITY = 0.9;

/** Whether `short` is the first letter of `long`, and no more. */
export const isInitialOf = (short: string, long: string): boolean =>
  short.length === 1 && long.length > 1 && long.startsWith(short);

/** How likely two words are the same word, 0 to 1: spelling, sound and consonants are tried and the best one counts. */
export const tokenSimilarity = (left: NameToken, right: NameToken): number => {
  if (left.text === right.text) return 1;
  if (isInitialOf(left.text, right.text) || isInitialOf(right.text, left.text)) return INITIAL_SIMILARITY;
  // A word of three letters or less has no room for a slip.
  if (Math.min(left.text.length, right.text.length) < 3) return 0;
  if (left.sound === right.sound) return SAME_SOUND;
  const sameSkeleton = left.skeleton !== '' && left.skeleton === right.skeleton;
  if (left.isVowelless !== right.isVowelless) return sameSkeleton ? SAME_SKELETON_VOWELLESS : 0;
  const spelled = jaroWinkler(left.text, right.text);
  const heard = jaroWinkler(left.sound, right.sound) - 0.03;
  const best = Math.max(spelled, heard);
  return sameSkeleton && left.skeleton.length >= 3 ? Math.max(best, SAME_SKELETON) : best;
};
