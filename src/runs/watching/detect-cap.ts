/** Shorter lists are not judged: most names have none to a few matches, and many share their highest number by nature. */
const shortestCap = 5;
/** Fewer answers of the greatest length than this may be chance. */
const leastAtCap = 10;
/** How many answers beyond the greatest length are expected before their absence speaks: chance leaves out so many once in 10^8. */
const leastMissing = 20;
/** A list length seldom falls off more slowly than this from one to the next. */
const slowestDecay = 0.95;

/**
 * The length at which lists look cut without a word, or null, from how many answers had which length. It is the greatest length when
 * at least 10 answers have it, it is at least 5, and going by how the numbers fall off below it at least 20 answers should be longer,
 * but none is.
 */
export function detectCap(answersByLength: ReadonlyMap<number, number>): number | null {
  const lengths = [...answersByLength].filter(([, answers]) => answers > 0).map(([length]) => length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const atLongest = answersByLength.get(longest) ?? 0;
  if (longest < shortestCap || atLongest < leastAtCap) return null;
  const decay = measureDecay(answersByLength, longest);
  return (atLongest * decay) / (1 - decay) >= leastMissing ? longest : null;
}

/** By which factor the numbers fall from one length to the next, from half the greatest length up to the one below it. */
function measureDecay(answersByLength: ReadonlyMap<number, number>, longest: number): number {
  const first = Math.floor(longest / 2);
  let shorter = 0;
  let longer = 0;
  for (let length = first; length < longest - 1; length += 1) {
    shorter += answersByLength.get(length) ?? 0;
    longer += answersByLength.get(length + 1) ?? 0;
  }
  return shorter === 0 ? slowestDecay : Math.min(longer / shorter, slowestDecay);
}
