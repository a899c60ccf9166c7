import type { AskedPiece, ListedPiece, NamePiece, WeighedName } from './weighed-name.js';

/** How far two names agree, each share up to 1. */
export interface Agreement {
  /** How much of the listed spelling stands in the name that was asked for. */
  ofListed: number;
  /** How much of that name stands in the listed spelling. */
  ofAsked: number;
  /** How many words both have, apart from particles and legal forms. */
  words: number;
  /** How much the most telling of the words that are the same to the letter says. */
  strongest: number;
}

interface Pair {
  asked: AskedPiece;
  listed: ListedPiece;
  likeness: number;
  weight: number;
}

const fillerWeight = 0.1;
const initial = { weight: 0.3, likeness: 0.7 };

/** Compares two names word by word, in any order, each word used once; words that were written together or apart agree as well. */
export function judgeNames(asked: WeighedName<AskedPiece>, listed: WeighedName<ListedPiece>): Agreement {
  const usedAsked: boolean[] = [];
  const usedListed: boolean[] = [];
  let agreed = 0;
  let paired = 0;
  let words = 0;
  let strongest = 0;
  for (const { likeness, weight, ...pair } of findPairs(asked, listed)) {
    const [ours, theirs] = [pair.asked.places, pair.listed.places];
    if (isUsed(ours, usedAsked) || isUsed(theirs, usedListed)) continue;
    for (const place of ours) usedAsked[place] = true;
    for (const place of theirs) usedListed[place] = true;
    agreed += weight * likeness;
    paired += weight;
    if (weight > fillerWeight) words += Math.max(ours.length, theirs.length);
    if (likeness === 1) strongest = Math.max(strongest, weight);
  }
  const initials = pairInitials(asked.texts, listed.texts, usedAsked, usedListed);
  agreed += initials * initial.weight * initial.likeness;
  paired += initials * initial.weight;
  return {
    ofListed: divide(agreed, paired + sumUnused(listed.weights, usedListed)),
    ofAsked: divide(agreed, paired + sumUnused(asked.weights, usedAsked)),
    words,
    strongest,
  };
}

/** Every piece of one that may be a piece of the other, the most alike first, and of those the most telling. */
function findPairs(asked: WeighedName<AskedPiece>, listed: WeighedName<ListedPiece>): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const ours of asked.pieces) {
    for (const theirs of listed.pieces) {
      // Words that both write apart are compared one by one.
      if (isJoined(ours) && isJoined(theirs)) continue;
      const likeness = ours.likeIds.get(theirs.id);
      if (likeness === undefined) continue;
      let weight = 0;
      for (const place of theirs.places) weight += listed.weights[place] ?? 0;
      pairs.push({ asked: ours, listed: theirs, likeness, weight });
    }
  }
  return pairs.length < 2
    ? pairs
    : pairs.sort((left, right) => right.likeness - left.likeness || right.weight - left.weight);
}

const isJoined = ({ places }: NamePiece): boolean => places.length > 1;

function isUsed(places: readonly number[], used: readonly boolean[]): boolean {
  for (const place of places) if (used[place]) return true;
  return false;
}

/** Pairs a letter that stands alone with a word that begins with it; gives how many, and takes them from what is left. */
function pairInitials(
  asked: readonly string[],
  listed: readonly string[],
  usedAsked: boolean[],
  usedListed: boolean[],
): number {
  let count = 0;
  for (const [ours, text] of asked.entries()) {
    if (usedAsked[ours]) continue;
    for (const [theirs, other] of listed.entries()) {
      if (usedListed[theirs] || text[0] !== other[0] || (text.length > 1 && other.length > 1)) continue;
      usedAsked[ours] = true;
      usedListed[theirs] = true;
      count += 1;
      break;
    }
  }
  return count;
}

function sumUnused(weights: readonly number[], used: readonly boolean[]): number {
  let sum = 0;
  for (const [place, weight] of weights.entries()) if (!used[place]) sum += weight;
  return sum;
}

const divide = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
