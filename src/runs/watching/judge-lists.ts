import type { ListCapFacts } from '../../reports/watch-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { readListCap, saveListCap, takeForCut, takeForWhole } from '../../store/responses.js';
import type { RunSession } from '../session/run-session.js';

/**
 * Judges by all answers of a run whether the account's lists are cut without a word, keeps the verdict for later runs, and sets right what
 * this run has stored of its customers; inside the transaction that adds the run up. Null when there is nothing to say.
 */
export async function judgeLists(
  transaction: Queryable,
  { workplace, run }: RunSession,
  accountId: number,
  answersByLength: ReadonlyMap<number, number>,
): Promise<ListCapFacts | null> {
  const { runId } = run;
  const known = await readListCap(transaction, accountId);
  const { cap, standing, gone } = judgeCap(known, answersByLength);
  if (cap === null && gone === null) return null;
  await saveListCap(transaction, { accountId, runId, now: workplace.clock.now() }, cap);
  const freed = gone === null ? 0 : await takeForWhole(transaction, runId, gone);
  if (cap !== null) return { length: cap, standing, customers: await takeForCut(transaction, runId, cap) };
  return gone === null ? null : { length: gone, standing: 'gone', customers: freed };
}

/** What a run shows about the length at which lists are cut: the cap that stands after it, and the one that does not stand any more. */
interface CapVerdict {
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
