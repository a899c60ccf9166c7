import type { RateFacts, WatchFacts } from '../../reports/watch-facts.js';
import type { AnswerFindings } from '../../store/answer-findings.js';
import type { ChangeVolume } from '../../store/change-volume.js';
import type { Queryable } from '../../store/database.js';
import type { RunRow } from '../../store/run-row.js';
import type { RunSums } from '../../store/run-sums.js';
import { type RunFindings, readFormerFindings } from '../../store/run-watch.js';
import { judgeRate } from './judge-rate.js';

/** How many former runs say what is usual. */
const formerRuns = 14;
/** The share of its planned customers that a run may leave unscreened and still say something to later ones. */
const mostUnscreened = 0.01;

/** What a run found, whether later runs are compared with it, and how it compares with former ones (null when it is not judged). */
export interface FindingsVerdict {
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
