import type { RateFacts, WatchFacts } from '../../reports/watch-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { type RunFindings, readFormerFindings } from '../../store/run-health.js';
import type { AnswerFindings, ChangeVolume, RunSums } from '../../store/run-sums.js';
import type { RunRow } from '../../store/runs.js';

/** How many former runs say what is usual. */
const formerRuns = 14;
/** The share of its planned customers that a run may leave unscreened and still say something to later ones. */
const mostUnscreened = 0.01;

/** What a run found, whether later runs are compared with it, and how it compares with former ones (null when it is not judged). */
interface FindingsVerdict {
  findings: RunFindings;
  isComparable: boolean;
  rates: WatchFacts['rates'];
  volume: WatchFacts['volume'];
}

/**
 * Compares what a run found, and how much of the service's data has changed since the searches before, with the last 14 comparable runs of its roster and account. One that did not come to its end, whose canaries
 * failed, or that asked about chosen customers only, is not judged and says nothing to later ones; one that is flagged does, so that a lasting change is usual after 8 runs.
 */
export async function judgeFindings(
  transaction: Queryable,
  { runId, selection }: Pick<RunRow, 'runId' | 'selection'>,
  { counts }: RunSums,
  { answersByLength: _, ...held }: AnswerFindings,
  changed: ChangeVolume,
  hasEnded: boolean,
): Promise<FindingsVerdict> {
  const findings = { screened: counts.screened, ...held, ...changed };
  const isWhole = hasEnded && (selection === 'due' || selection === 'all');
  const unscreened = counts.failed + counts.remaining;
  const isComparable = isWhole && counts.screened > 0 && unscreened <= counts.planned * mostUnscreened;
  if (!isWhole) return { findings, isComparable, rates: null, volume: null };
  const former = await readFormerFindings(transaction, runId, formerRuns);
  const judge = (found: (one: RunFindings) => number, squares: (one: RunFindings) => number): RateFacts => {
    const toFinding = (one: RunFindings) => ({ screened: one.screened, found: found(one), squares: squares(one) });
    return judgeRate(toFinding(findings), former.map(toFinding));
  };
  const rates = {
    matches: judge(
      (one) => one.matches,
      (one) => one.matchSquares,
    ),
    hits: judge(
      (one) => one.hits,
      (one) => one.hitSquares,
    ),
  };
  const toVolume = ({ searchesAgain, changes, changeSquares }: RunFindings) => ({
    screened: searchesAgain,
    found: changes,
    squares: changeSquares,
  });
  const volume = judgeRate(toVolume(findings), former.map(toVolume));
  return { findings, isComparable, rates, volume };
}

/** What a run found: `found` in the answers for `screened` customers; `squares` is the sum over answers of what each held, squared. */
export interface RunFinding {
  screened: number;
  found: number;
  squares: number;
}

/** `low` and `high` are flagged; `unknown` while there is too little to compare with. */
type RateVerdict = 'usual' | 'low' | 'high' | 'unknown';

/** A run's rate per 1,000 customers screened beside the median of former runs (null without any). */
interface RateJudgement {
  perThousand: number;
  usual: number | null;
  formerRuns: number;
  verdict: RateVerdict;
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
export function judgeRate(current: RunFinding, former: readonly RunFinding[]): RateJudgement {
  const comparable = former.filter(({ screened }) => screened > 0);
  const usual = comparable.length === 0 ? null : median(comparable.map(toRate));
  const perThousand = current.screened === 0 ? 0 : toRate(current);
  const judgement = { perThousand, usual, formerRuns: comparable.length };
  if (usual === null || comparable.length < fewestRuns || current.screened === 0) {
    return { ...judgement, verdict: 'unknown' };
  }
  const deviation = measureDeviation(current, addUp(comparable));
  if (perThousand < usual / 2 && deviation <= -leastDeviation) return { ...judgement, verdict: 'low' };
  if (perThousand > usual * 2 && deviation >= leastDeviation) return { ...judgement, verdict: 'high' };
  return { ...judgement, verdict: 'usual' };
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
