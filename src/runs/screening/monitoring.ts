import type { RateFacts, WatchFacts } from '../../reports/run-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { applyListCap, countShortened, readListCap } from '../../store/night/responses.js';
import {
  type AnswerFindings,
  type RunFindings,
  readChangeVolume,
  readFormerFindings,
  saveRunWatch,
} from '../../store/night/run-health.js';
import type { RunSums } from '../../store/night/run-sums.js';
import type { Account } from '../../store/organisations.js';
import type { RunRow } from '../../store/runs.js';
import type { RunContext } from '../app-context.js';

/** The number of former runs that a run is compared with. */
const formerRuns = 14;
/** The share of its planned customers that a comparable run may leave unscreened. */
const mostUnscreened = 0.01;

/**
 * Compares the findings of a run, and the share of changed service data, with the last 14 comparable runs of its roster
 * and account, and stores the result. A run that is not whole (it stopped, failed a control search, or is held), or that
 * searched chosen customers only, is not comparable and not assessed. A flagged run stays comparable, so that a lasting
 * change is usual after 8 runs.
 */
export async function watchService(
  transaction: Queryable,
  run: Pick<RunRow, 'runId' | 'selection'>,
  { listCap, ...end }: Parameters<typeof assessFindings>[2] & Pick<WatchFacts, 'listCap'>,
): Promise<WatchFacts> {
  const assessed = await assessFindings(transaction, run, end);
  await saveRunWatch(transaction, run.runId, { ...assessed, listCap });
  return { rates: assessed.rates, volume: assessed.volume, listCap };
}

async function assessFindings(
  transaction: Queryable,
  { runId, selection }: Pick<RunRow, 'runId' | 'selection'>,
  { sums, findings: answers, isWhole: hasEnded }: { sums: RunSums; findings: AnswerFindings; isWhole: boolean },
): Promise<{ findings: RunFindings; isComparable: boolean } & Pick<WatchFacts, 'rates' | 'volume'>> {
  const { counts } = sums;
  const { answersByLength: _, ...held } = answers;
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

/**
 * The findings of a run: `found` in the answers for `screened` customers; `squares` sums the squared findings of each
 * answer.
 */
export interface RunFinding {
  screened: number;
  found: number;
  squares: number;
}

/** The fewest former runs for a meaningful median. */
const fewestRuns = 5;
/** Fewer findings, found or expected, are no evidence. */
const fewestFindings = 10;
/** In standard deviations: chance exceeds this once in 30,000 nights. */
const leastDeviation = 4;

/**
 * Compares the findings of a run with former runs. A rate below half or above twice their median is flagged when two
 * conditions hold: there are at least 5 former runs, and chance is excluded. The test is a likelihood ratio of two
 * Poisson rates, this run's and that of all former runs, at 4 standard deviations and from 10 findings on. The findings
 * of one answer count together: one customer with fifty matches is one finding.
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

/**
 * The signed root of the likelihood ratio that `current` has the rate of `former`, in standard deviations; 0 for few
 * findings.
 */
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

/** How many findings occur together: the variance of a compound Poisson sum over its mean. */
const toBunching = ({ found, squares }: RunFinding): number => (found === 0 ? 1 : Math.max(1, squares / found));

const toTerm = (seen: number, expected: number): number => (seen === 0 ? 0 : seen * Math.log(seen / expected));

/**
 * Detects from all answers of a run whether the account's lists are truncated without notice. Stores the cap for later
 * runs and corrects the stored customers of this run, inside the transaction that computes the sums. Null without a
 * cap.
 */
export async function assessLists(
  transaction: Queryable,
  { app, run }: RunContext,
  accountId: number,
  answersByLength: ReadonlyMap<number, number>,
): Promise<WatchFacts['listCap']> {
  const { runId } = run;
  const { cap, standing, gone } = await findListCap(transaction, { accountId, runId }, answersByLength);
  if (cap === null && gone === null) return null;
  const key = { accountId, runId, now: app.clock.now() };
  const customers = await applyListCap(transaction, key, { cap, gone });
  if (cap !== null) return { length: cap, standing, customers };
  return gone === null ? null : { length: gone, standing: 'gone', customers };
}

/** What the answers of a run say about the cap of the account's lists; nothing is stored. */
export async function findListCap(
  transaction: Queryable,
  { accountId, runId }: { accountId: number; runId: number },
  answersByLength: ReadonlyMap<number, number>,
) {
  const known = await readListCap(transaction, accountId);
  return assessCap(known, answersByLength, await countShortened(transaction, runId));
}

/**
 * Compares a known cap with the answers of a run. `cap` is the cap from now on, `found` in this run or `known` before;
 * `gone` is a cap that no longer applies. A cap ends when one list is longer than it, or when the answers show a
 * shorter cap. Without a list of its length it stays.
 */
export function assessCap(
  known: number | null,
  answersByLength: ReadonlyMap<number, number>,
  shortened: ReadonlyMap<number, number> = new Map(),
) {
  const detected = detectCap(answersByLength) ?? detectShortening(answersByLength, shortened);
  if (known === null) return { cap: detected, standing: 'found' as const, gone: null };
  const isExceeded = [...answersByLength].some(([length, answers]) => length > known && answers > 0);
  if (detected === known || (detected === null && !isExceeded)) {
    return { cap: known, standing: 'known' as const, gone: null };
  }
  return { cap: detected, standing: 'found' as const, gone: known };
}

/** Shorter lists prove no cap: most names have few matches, and many share their greatest number. */
const shortestCap = 5;
/** With fewer answers of the greatest length, chance is likely. */
const leastAtCap = 10;
/** The expected number of longer answers whose absence proves a cap; chance omits 20 once in 10^8. */
const leastMissing = 20;
/** The slowest decay of counts from one length to the next. */
const slowestDecay = 0.95;

/**
 * The length at which lists appear truncated, or null, from the number of answers of each length. It is the greatest
 * length, at least 5, of at least 10 answers, and the decay below it predicts at least 20 longer answers.
 */
export function detectCap(answersByLength: ReadonlyMap<number, number>): number | null {
  const lengths = [...answersByLength].filter(([, answers]) => answers > 0).map(([length]) => length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const atLongest = answersByLength.get(longest) ?? 0;
  if (longest < shortestCap || atLongest < leastAtCap) return null;
  const decay = measureDecay(answersByLength, longest);
  return (atLongest * decay) / (1 - decay) >= leastMissing ? longest : null;
}

/** So many lists that were longer before and now have the greatest length show a cap. */
const leastShortened = 5;

/** The length to which lists appear to be cut since the answers before; `shortened` has the number of answers that were longer, by length. */
function detectShortening(
  answersByLength: ReadonlyMap<number, number>,
  shortened: ReadonlyMap<number, number>,
): number | null {
  const longest = Math.max(0, ...answersByLength.keys(), ...shortened.keys());
  return (shortened.get(longest) ?? 0) >= leastShortened ? longest : null;
}

/** The mean factor between the counts of neighbouring lengths, from half the greatest length to the one below it. */
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

/** A service account with its known cap. */
export interface WatchedAccount extends Account {
  /** The length at which its lists are truncated without notice; null when unknown. */
  listCap: number | null;
}
