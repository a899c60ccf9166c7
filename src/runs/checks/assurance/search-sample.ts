import { toMatchSet } from '../../../matches/to-match-set.js';
import { type AssuranceItem, readAssuranceItems, saveAssuranceItem } from '../../../store/assurances.js';
import { requireFound } from '../../../store/require-all.js';
import { saveResponses } from '../../../store/responses.js';
import { digestAnswer } from '../../ledger/digest-answer.js';
import { searchBesidePlan } from '../../ledger/search-beside-plan.js';
import { outlastOutage, type Patience } from '../../outages/outlast-outage.js';
import { hasCaps } from '../../planning/read-budget.js';
import { findTightest, toBudgetHalt, watchLedger } from '../../planning/watch-ledger.js';
import { type RunHalted, toSignalHalt } from '../../session/run-halted.js';
import type { RunSession } from '../../session/run-session.js';

/**
 * Searches for what remains of a sample, as many at once as the settings allow; each answer is kept as it comes. Throws RunHalted when the
 * account is refused, the budget without its reserve is used up, the service is out of reach for too long, or somebody asks to stop.
 */
export async function searchSample(session: RunSession, accountId: number, patience: Patience): Promise<void> {
  const { workplace, run, runId } = session;
  const items = await readAssuranceItems(workplace.database, run.runId);
  const left = items.filter((item) => item.outcome === 'remaining');
  const allowance = await openAllowance(session, accountId);
  const stop = new AbortController();
  const signal = AbortSignal.any([allowance.signal, stop.signal]);
  let done = items.length - left.length;
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item; item = left.shift()) {
      if (signal.aborted) throw toSignalHalt(signal);
      const paid = allowance.takeOne();
      if (paid === null) return;
      await searchItem(paid, { ...patience, signal }, item);
      done += 1;
      workplace.tell({ kind: 'progress', runId, stage: 'screen', done, total: items.length });
    }
  };
  const { concurrency } = workplace.settings.service.rate;
  const workers = Array.from({ length: concurrency }, () => work().catch((error: unknown) => stop.abort(error)));
  await Promise.all(workers);
  if (stop.signal.aborted) throw stop.signal.reason;
  if (done < items.length) throw allowance.toHalt();
}

async function searchItem(session: RunSession, patience: Patience, item: AssuranceItem): Promise<void> {
  const { workplace, organisation, run } = session;
  const request = { type: item.type, name: item.sentName };
  const { value: outcome } = await outlastOutage(patience, (signal) =>
    searchBesidePlan({ ...session, signal }, workplace.client(), request, 'a search of the sample'),
  );
  const now = workplace.clock.now();
  await session.write(async (transaction) => {
    if (outcome.kind === 'failed') {
      return saveAssuranceItem(transaction, run.runId, item.ordinal, { failedBecause: outcome.reason }, now);
    }
    const { body } = outcome;
    const digest = digestAnswer(organisation.digestKey, body);
    const answer = { digest, body, matchSet: toMatchSet(outcome.answer) };
    const ids = await saveResponses(transaction, organisation.organisationId, [answer], now);
    const responseId = requireFound(ids, digest, 'response');
    await saveAssuranceItem(transaction, run.runId, item.ordinal, { responseId }, now);
  });
}

/** What a measurement may spend: the budget but for its reserve. */
interface SampleAllowance {
  signal: AbortSignal;
  /** A session for one more search, or null when the budget allows none. */
  takeOne(): RunSession | null;
  toHalt(): RunHalted;
}

async function openAllowance(session: RunSession, accountId: number): Promise<SampleAllowance> {
  const { signal, workplace } = session;
  if (!hasCaps(workplace.settings)) return { signal, takeOne: () => session, toHalt: () => toBudgetHalt(null) };
  const watched = await watchLedger(session, accountId, 0);
  // Let through, and not in the ledger yet.
  let pending = 0;
  const takeOne = (): RunSession | null => {
    if (watched.affordable <= pending) return null;
    pending += 1;
    let isPending = true;
    return {
      ...watched.session,
      write: async (writing) => {
        try {
          return await watched.session.write(writing);
        } finally {
          // The first thing that is written for a search is its note in the ledger.
          if (isPending) pending -= 1;
          isPending = false;
        }
      },
    };
  };
  return { signal: watched.session.signal, takeOne, toHalt: () => toBudgetHalt(findTightest(watched.limits)) };
}
