import type { ListCapFacts } from '../../reports/watch-facts.js';
import type { Queryable } from '../../store/database.js';
import { readListCap, saveListCap, takeForCut, takeForWhole } from '../../store/list-caps.js';
import type { RunSession } from '../session/run-session.js';
import { judgeCap } from './judge-cap.js';

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
