import {
  foldName,
  joinTokens,
  MIN_TOKEN_SIMILARITY,
  type NameKind,
  type NameToken,
  tokenSimilarity,
  unifyLegalForm,
  wordWeight,
} from './name-tokens.js';

/** A name ready to be compared: its words with their weights, and neighbouring words read as one. */
export interface ScorableName {
  tokens: readonly NameToken[];
  /** `joined[i]` is word i and word i+1 read as one. */
  joined: readonly NameToken[];
  /** The weight of each word. */
  weights: readonly number[];
  /** The sum of the weights. */
  weight: number;
}

/** How alike two words are, 0 to 1. */
export type CompareTokens = (left: NameToken, right: NameToken) => number;

interface Pairing {
  left: number;
  leftLength: 1 | 2;
  right: number;
  rightLength: 1 | 2;
  similarity: number;
}

const MIN_JOINED_SIMILARITY = 0.93;
/** What a word costs that both names have in different form, and one that only one of them has. */
const REPLACED_COST = 1.15;
const EXTRA_COST: Record<NameKind, number> = { person: 0.26, entity: 0.6 };
/** With less than this matched, an extra word is as bad as another word: "Ali" is not "Ali Hassan". */
const MIN_MATCHED_WEIGHT = 1.6;

/** Prepares a name for comparison. */
export const toScorableName = (name: string, kind: NameKind): ScorableName => {
  const folded = foldName(name);
  const tokens = kind === 'entity' ? folded.map((token) => ({ ...token, text: unifyLegalForm(token.text) })) : folded;
  const joined = tokens.slice(1).flatMap((token, index) => {
    const before = tokens[index];
    return before ? [joinTokens(before, token)] : [];
  });
  const weights = tokens.map((token) => wordWeight(token.text, kind));
  return { tokens, joined, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
};

const findPairings = (left: ScorableName, right: ScorableName, compare: CompareTokens): Pairing[] => {
  const pairings: Pairing[] = [];
  const compareAll = (leftLength: 1 | 2, rightLength: 1 | 2): void => {
    const least = leftLength === rightLength ? MIN_TOKEN_SIMILARITY : MIN_JOINED_SIMILARITY;
    const lefts = leftLength === 1 ? left.tokens : left.joined;
    const rights = rightLength === 1 ? right.tokens : right.joined;
    for (const [i, token] of lefts.entries()) {
      for (const [j, other] of rights.entries()) {
        const similarity = compare(token, other);
        if (similarity >= least) pairings.push({ left: i, leftLength, right: j, rightLength, similarity });
      }
    }
  };
  compareAll(1, 1);
  compareAll(1, 2);
  compareAll(2, 1);
  return pairings.sort((a, b) => b.similarity - a.similarity || b.leftLength - a.leftLength);
};

/** The weight of the words of one side of a pairing; undefined when one of them is used already. */
const weighUnused = (
  name: ScorableName,
  used: ReadonlySet<number>,
  start: number,
  length: 1 | 2,
): number | undefined => {
  if (used.has(start) || (length === 2 && used.has(start + 1))) return undefined;
  return (name.weights[start] ?? 0) + (length === 2 ? (name.weights[start + 1] ?? 0) : 0);
};

/** The score of names whose paired words weigh `matched` and agree as much as `agreed` of it, with the given words left over. */
export const combineScore = (
  matched: number,
  agreed: number,
  leftOver: number,
  rightOver: number,
  kind: NameKind,
): number => {
  if (matched === 0) return 0;
  const replaced = Math.min(leftOver, rightOver);
  const extra = Math.abs(leftOver - rightOver);
  const extraCost = matched >= MIN_MATCHED_WEIGHT ? EXTRA_COST[kind] : 1;
  return agreed / (matched + replaced * REPLACED_COST + extra * extraCost);
};

/** How alike two names are, 0 to 1, whatever the order of their words. */
export const scoreNames = (
  left: ScorableName,
  right: ScorableName,
  kind: NameKind,
  compare: CompareTokens = tokenSimilarity,
): number => {
  const usedLeft = new Set<number>();
  const usedRight = new Set<number>();
  let agreed = 0;
  let matchedLeft = 0;
  let matchedRight = 0;
  for (const pairing of findPairings(left, right, compare)) {
    const leftWeight = weighUnused(left, usedLeft, pairing.left, pairing.leftLength);
    const rightWeight = weighUnused(right, usedRight, pairing.right, pairing.rightLength);
    if (leftWeight === undefined || rightWeight === undefined) continue;
    for (let place = 0; place < pairing.leftLength; place += 1) usedLeft.add(pairing.left + place);
    for (let place = 0; place < pairing.rightLength; place += 1) usedRight.add(pairing.right + place);
    matchedLeft += leftWeight;
    matchedRight += rightWeight;
    agreed += ((leftWeight + rightWeight) / 2) * pairing.similarity;
  }
  const matched = (matchedLeft + matchedRight) / 2;
  return combineScore(matched, agreed, left.weight - matchedLeft, right.weight - matchedRight, kind);
};
