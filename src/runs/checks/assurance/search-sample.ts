import { toMatchSet } from '../../../matches/to-match-set.js';
import { type AssuranceItem, readAssuranceItems, saveAssuranceItem } from '../../../store/assurances.js';
import { saveResponses } from '../../../store/responses.js';
import { digestAnswer } from '../../ledger/digest-answer.js';
import { searchBesidePlan } from '../../ledger/search-beside-plan.js';
import { outlastOutage, type Patience } from '../../outages/outlast-outage.js';
import { readBudget } from '../../planning/read-budget.js';
import { RunHalted, toSignalHalt } from '../../session/run-halted.js';
import type { RunSession } from '../../session/run-session.js';

/** How many searches are made between two looks into the ledger. */
const looksEvery = 20;

/**
 * Searches for what remains of a sample, as many at once as the settings allow; each answer is kept as it comes. Throws RunHalted when the
 * account is refused, the budget without its reserve is used up, the service is out of reach for too long, or somebody asks to stop.
 */
export async function searchSample(session: RunSession, accountId: number, patience: Patience): Promise<void> {
  const { workplace, run, runId } = session;
  const items = await readAssuranceItems(workplace.database, run.runId);
  const left = items.filter((item) => item.outcome === 'remaining');
  const stop = new AbortController();
  const signal = AbortSignal.any([patience.signal, stop.signal]);
  const takeOne = openAllowance(session, accountId);
  let done = items.length - left.length;
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item; item = left.shift()) {
      if (signal.aborted) throw toSignalHalt(signal);
      await takeOne();
      await searchItem(session, { ...patience, signal }, item);
      done += 1;
      workplace.tell({ kind: 'progress', runId, stage: 'screen', done, total: items.length });
    }
  };
  const { concurrency } = workplace.settings.service.rate;
  const workers = Array.from({ length: concurrency }, () => work().catch((error: unknown) => stop.abort(error)));
  await Promise.all(workers);
  if (stop.signal.aborted) throw stop.signal.reason;
}

async function searchItem(session: RunSession, patience: Patience, item: AssuranceItem): Promise<void> {
  const { workplace, organisation, run } = session;
  const request = { type: item.type, name: item.sentName };
  const { value: outcome } = await outlastOutage(patience, (signal) =>
    searchBesidePlan({ ...session, signal }, workplace.client(), request),
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
    const responseId = ids.get(digest.toString('hex')) ?? 0;
    await saveAssuranceItem(transaction, run.runId, item.ordinal, { responseId }, now);
  });
}

/** Gives out searches one by one within the budget, of which the reserve is left alone; looks into the ledger again and again. */
function openAllowance(session: RunSession, accountId: number): () => Promise<void> {
  const { database, clock, settings } = session.workplace;
  let allowed = 0;
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    if (allowed > 0) return;
    const { leftForAll } = await readBudget(database, accountId, clock.now(), settings, session.run.runId);
    if (leftForAll < 1) {
      const message =
        'the budget is used up, but for what is kept for new customers, single checks and control searches';
      throw new RunHalted('max_searches', message);
    }
    allowed = Math.min(looksEvery, leftForAll);
  };
  return () => {
    const taken = looking.then(async () => {
      await look();
      allowed -= 1;
    });
    looking = taken.catch(() => undefined);
    return taken;
  };
}
