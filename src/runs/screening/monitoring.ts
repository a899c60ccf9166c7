import type { RateFacts, WatchFacts } from '../../reports/list-facts.js';
import type { Queryable } from '../../store/database/database.js';
import type { Account } from '../../store/organisations.js';
import { applyListCap, readListCap } from '../../store/responses.js';
import { type AnswerFindings, type RunFindings, readChangeVolume, readFormerFindings } from '../../store/run-health.js';
import type { RunSums } from '../../store/run-sums.js';
import type { RunRow } from '../../store/runs.js';
import type { RunSession } from '../session.js';

/** How many former runs say what is usual. */
const formerRuns = 14;
/** The share of its planned customers that a run may leave unscreened and still say something to later ones. */
const mostUnscreened = 0.01;

/**
 * Compares what a run found, and how much of the service's data has changed since the searches before, with the last 14 comparable runs of its roster and account. One that did not come to its end, whose canaries
 * failed, or that asked about chosen customers only, is not judged and says nothing to later ones; one that is flagged does, so that a lasting change is usual after 8 runs.
 */
export async function assessFindings(
  transaction: Queryable,
  { runId, selection }: Pick<RunRow, 'runId' | 'selection'>,
  { counts }: RunSums,
  { answersByLength: _, ...held }: AnswerFindings,
  hasEnded: boolean,
): Promise<{ findings: RunFindings; isComparable: boolean } & Pick<WatchFacts, 'rates' | 'volume'>> {
  const findings = { screened: counts.screened, ...held, ...(await readChangeVolume(transaction, runId)) };
  const isWhole = hasEnded && (selection === 'due' || selection === 'all');
  const unscreened = counts.failed + counts.remaining;
  const isComparable = isWhole && counts.screened > 0 && unscreened <= counts.planned * mostUnscreened;
  if (!isWhole) return { findings, isComparable, rates: null, volume: null };
  const former = await readFormerFindings(transaction, runId, formerRuns);
  const assess = (found: (one: RunFindings) => number, squares: (one: RunFindings) => number): RateFacts => {
    const toFinding = (one: RunFindings) => ({ screened: one.screened, found: found(one), squares: squares(one) });
    return assessRate(toFinding(findings), former.map(toFinding));
  };
  const rates = {
    matches: assess(
      (one) => one.matches,
      (one) => one.matchSquares,
    ),
    hits: assess(
      (one) => one.hits,
      (one) => one.hitSquares,
    ),
  };
  const toVolume = ({ searchesAgain, changes, changeSquares }: RunFindings) => ({
    screened: searchesAgain,
    found: changes,
    squares: changeSquares,
  });
  const volume = assessRate(toVolume(findings), former.map(toVolume));
  return { findings, isComparable, rates, volume };
}

/** What a run found: `found` in the answers for `screened` customers; `squares` is the sum over answers of what each held, squared. */
export interface RunFinding {
  screened: number;
  found: number;
  squares: number;
}

/** A median of fewer says little about what is usual. */
const fewestRuns = 5;
/** Neither found nor to be expected so often: a handful is no evidence. */
const fewestFindings = 10;
/** Standard deviations: chance goes so far once in 30,000 nights. */
const leastDeviation = 4;

/**
 * Judges what a run found against former ones. Flagged is a rate below half or above twice their median, but only beside at least 5 of
 * them and only when chance is no explanation: by a likelihood ratio of two Poisson rates, this run's and that of all former ones, at 4
 * standard deviations, and from 10 findings on. What one answer holds counts as found together, so that one customer with fifty matches is one finding.
 */
export function assessRate(current: RunFinding, former: readonly RunFinding[]): RateFacts {
  const comparable = former.filter(({ screened }) => screened > 0);
  const usual = comparable.length === 0 ? null : median(comparable.map(toRate));
  const perThousand = current.screened === 0 ? 0 : toRate(current);
  const assessment = { perThousand, usual, formerRuns: comparable.length };
  if (usual === null || comparable.length < fewestRuns || current.screened === 0) {
    return { ...assessment, verdict: 'unknown' };
  }
  const deviation = measureDeviation(current, addUp(comparable));
  if (perThousand < usual / 2 && deviation <= -leastDeviation) return { ...assessment, verdict: 'low' };
  if (perThousand > usual * 2 && deviation >= leastDeviation) return { ...assessment, verdict: 'high' };
  return { ...assessment, verdict: 'usual' };
}

const toRate = ({ found, screened }: RunFinding): number => (found / screened) * 1_000;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

const addUp = (findings: readonly RunFinding[]): RunFinding => ({
  screened: findings.reduce((sum, { screened }) => sum + screened, 0),
  found: findings.reduce((sum, { found }) => sum + found, 0),
  squares: findings.reduce((sum, { squares }) => sum + squares, 0),
});

/** The signed root of the likelihood ratio of `current` having the same rate as `former`, in standard deviations; 0 for a handful. */
function measureDeviation(current: RunFinding, former: RunFinding): number {
  const bunching = Math.max(toBunching(current), toBunching(former));
  const seen = current.found / bunching;
  const before = former.found / bunching;
  const share = current.screened / (current.screened + former.screened);
  const expected = (seen + before) * share;
  const expectedBefore = (seen + before) * (1 - share);
  if (Math.max(seen, expected) < fewestFindings) return 0;
  const ratio = 2 * (toTerm(seen, expected) + toTerm(before, expectedBefore));
  return Math.sign(seen - expected) * Math.sqrt(Math.max(0, ratio));
}

/** How many findings come together: the variance of a compound Poisson sum over its mean. */
const toBunching = ({ found, squares }: RunFinding): number => (found === 0 ? 1 : Math.max(1, squares / found));

const toTerm = (seen: number, expected: number): number => (seen === 0 ? 0 : seen * Math.log(seen / expected));

/**
 * Judges by all answers of a run whether the account's lists are cut without a word, keeps the verdict for later runs, and sets right what
 * this run has stored of its customers; inside the transaction that adds the run up. Null when there is nothing to say.
 */
export async function assessLists(
  transaction: Queryable,
  { app, run }: RunSession,
  accountId: number,
  answersByLength: ReadonlyMap<number, number>,
): Promise<WatchFacts['listCap']> {
  const { runId } = run;
  const known = await readListCap(transaction, accountId);
  const { cap, status, gone } = assessCap(known, answersByLength);
  if (cap === null && gone === null) return null;
  const key = { accountId, runId, now: app.clock.now() };
  const customers = await applyListCap(transaction, key, { cap, gone });
  if (cap !== null) return { length: cap, status, customers };
  return gone === null ? null : { length: gone, status: 'gone', customers };
}

/**
 * Judges a known cap by a run's answers: the cap that stands after it, `found` in this run or `known` before, and the one that does not stand
 * any more. It goes when a single list is longer, because then lists are not cut there (any more), or when
 * the answers show a shorter one; that no list is so long says nothing, so it stays.
 */
export function assessCap(known: number | null, answersByLength: ReadonlyMap<number, number>) {
  const detected = detectCap(answersByLength);
  if (known === null) return { cap: detected, status: 'found' as const, gone: null };
  const isExceeded = [...answersByLength].some(([length, answers]) => length > known && answers > 0);
  if (detected === known || (detected === null && !isExceeded)) {
    return { cap: known, status: 'known' as const, gone: null };
  }
  return { cap: detected, status: 'found' as const, gone: known };
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

/** A service account with what watching it has shown so far. */
export interface WatchedAccount extends Account {
  /** The length at which its lists are known to be cut without a word; null when none is known. */
  listCap: number | null;
}
