/** A word, or neighbouring words read as one, of a name: the places of the words, from 0. */
export interface NamePiece {
  places: readonly number[];
}

/** A piece of a listed spelling by the number of its word. */
export interface ListedPiece extends NamePiece {
  id: number;
}

/** A piece of a name that is looked up, with the listed words that it may be and how alike they are. */
export interface AskedPiece extends NamePiece {
  likeIds: ReadonlyMap<number, number>;
}

/** A name ready to be judged: how much each of its words says about who is meant (0 to 1), the words, and its pieces. */
export interface WeighedName<Piece extends NamePiece> {
  weights: readonly number[];
  texts: readonly string[];
  pieces: readonly Piece[];
}

/** How far two names agree, each share up to 1. */
export interface Agreement {
  /** How much of the listed spelling stands in the name that was asked for. */
  ofListed: number;
  /** How much of that name stands in the listed spelling. */
  ofAsked: number;
  /** How many words both have, apart from particles and legal forms; words that only one of them writes together are one. */
  words: number;
  /** How alike those words are on average, by their weight. */
  likeness: number;
  /** How much the most telling of the words that are the same to the letter says. */
  strongest: number;
  /** How many letters that stand alone were taken for words. */
  initials: number;
  /** How many words of the listed spelling were found, particles included. */
  found: number;
  /** Every word of the listed spelling was found. */
  isWhole: boolean;
  /** The name has words that the listed spelling has not, apart from particles and legal forms. */
  hasOthers: boolean;
}

interface Pair {
  asked: readonly number[];
  listed: readonly number[];
  likeness: number;
  /** How much the listed words say. */
  weight: number;
}

const fillerWeight = 0.1;
const initial = { weight: 0.3, likeness: 0.7 };
/** A slip in a word that is too short, or too unlike, for the index to find it. */
const slipLikeness = 0.75;

/** Compares two names word by word, in any order, each word used once; words that were written together or apart agree as well. */
export function assessNames(asked: WeighedName<AskedPiece>, listed: WeighedName<ListedPiece>): Agreement {
  const usedAsked: boolean[] = [];
  const usedListed: boolean[] = [];
  const [agreedListed, agreedAsked, content] = [new Share(), new Share(), new Share()];
  let words = 0;
  let strongest = 0;
  const take = ({ likeness, weight, ...pair }: Pair): void => {
    for (const place of pair.asked) usedAsked[place] = true;
    for (const place of pair.listed) usedListed[place] = true;
    const ownWeight = sumAt(asked.weights, pair.asked);
    // Each side by its own weights: a common word is no more of a name for being like two rare ones.
    agreedListed.add(weight, likeness);
    agreedAsked.add(ownWeight, likeness);
    if (weight <= fillerWeight || ownWeight <= fillerWeight) return;
    content.add(weight, likeness);
    words += 1;
    if (likeness === 1 && pair.asked.length === 1 && pair.listed.length === 1) strongest = Math.max(strongest, weight);
  };
  for (const pair of findPairs(asked, listed)) {
    if (!isUsed(pair.asked, usedAsked) && !isUsed(pair.listed, usedListed)) take(pair);
  }
  pairSlips(asked.texts, listed, usedAsked, usedListed, take);
  const initials = pairInitials(asked.texts, listed.texts, usedAsked, usedListed);
  agreedListed.add(initials * initial.weight, initial.likeness);
  agreedAsked.add(initials * initial.weight, initial.likeness);
  const found = usedListed.filter(Boolean).length;
  return {
    ofListed: agreedListed.of(sumUnused(listed.weights, usedListed)),
    ofAsked: agreedAsked.of(sumUnused(asked.weights, usedAsked)),
    words,
    likeness: content.of(0),
    strongest,
    initials,
    found,
    isWhole: found === listed.texts.length,
    hasOthers: asked.weights.some((weight, place) => weight > fillerWeight && !usedAsked[place]),
  };
}

/** What was found to agree of a name, by weight. */
class Share {
  #agreed = 0;
  #paired = 0;

  add(weight: number, likeness: number): void {
    this.#agreed += weight * likeness;
    this.#paired += weight;
  }

  /** The part of the whole name, with the weight of what was not found. */
  of(unused: number): number {
    return this.#paired + unused === 0 ? 0 : this.#agreed / (this.#paired + unused);
  }
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
      const weight = sumAt(listed.weights, theirs.places);
      pairs.push({ asked: ours.places, listed: theirs.places, likeness, weight });
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

/** Pairs words that are left on both sides and one slip apart. */
function pairSlips(
  asked: readonly string[],
  listed: WeighedName<ListedPiece>,
  usedAsked: readonly boolean[],
  usedListed: readonly boolean[],
  take: (pair: Pair) => void,
): void {
  // This runs for each candidate, so without iterators.
  for (let ours = 0; ours < asked.length; ours += 1) {
    const text = asked[ours] ?? '';
    for (let theirs = 0; theirs < listed.texts.length && !usedAsked[ours]; theirs += 1) {
      if (usedListed[theirs] || !isOneSlip(text, listed.texts[theirs] ?? '')) continue;
      take({ asked: [ours], listed: [theirs], likeness: slipLikeness, weight: listed.weights[theirs] ?? 0 });
    }
  }
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

function sumAt(weights: readonly number[], places: readonly number[]): number {
  let sum = 0;
  for (const place of places) sum += weights[place] ?? 0;
  return sum;
}

function sumUnused(weights: readonly number[], used: readonly boolean[]): number {
  let sum = 0;
  for (const [place, weight] of weights.entries()) if (!used[place]) sum += weight;
  return sum;
}

/** Whether one word becomes the other by at most `most` insertions, deletions, changes of a letter or swaps of neighbours. */
export function isWithinEdits(left: string, right: string, most: number): boolean {
  if (Math.abs(left.length - right.length) > most) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const shortest = Math.min(left.length, right.length) - start;
  while (end < shortest && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [ours, theirs] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  if (ours.length <= most && theirs.length <= most) return true;
  return countEdits(ours, theirs) <= most;
}

/**
 * Whether two different words are one slip of the pen apart: neighbours swapped, or, in words that are not all short, a letter dropped,
 * added or changed. Never with figures: another number is another name.
 */
function isOneSlip(left: string, right: string): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  if (longer.length - shorter.length > 1 || left === right) return false;
  // One slip leaves the first or the last letter as it was, but in two letters. Most pairs of words end here.
  const isEitherSame = left[0] === right[0] || left[left.length - 1] === right[right.length - 1];
  if (!isEitherSame && longer.length > 2) return false;
  // One changed letter always changes the sum of the letters, two swapped ones never do.
  const isShort = shorter.length < 3 || longer.length < 4;
  if (isShort && (shorter.length < longer.length || sumLetters(left) !== sumLetters(right))) return false;
  return isWithinEdits(left, right, 1) && !figures.test(left) && !figures.test(right);
}

const figures = /\d/;

function sumLetters(word: string): number {
  let sum = 0;
  for (let at = 0; at < word.length; at += 1) sum += word.charCodeAt(at);
  return sum;
}

function countEdits(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const change = (last[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      let edits = Math.min((last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, change);
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && isSwap) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      next.push(edits);
    }
    before = last;
    last = next;
  }
  return last[right.length] ?? 0;
}
