import { toPartyState } from '../../src/matches/customer-state.js';
import { toMatchSet } from '../../src/matches/to-match-set.js';
import { digestAnswer } from '../../src/runs/ledger/digest-answer.js';
import type { FinishedSearch } from '../../src/runs/searches/commit-screenings.js';
import type { RunSession } from '../../src/runs/session/run-session.js';
import { insertCommitBatch } from '../../src/store/commit-batches.js';
import { type NewPartyState, savePartyStates } from '../../src/store/party-states.js';
import { saveResponses } from '../../src/store/responses.js';
import { saveScreeningResults } from '../../src/store/screenings.js';
import { saveAttempts } from '../../src/store/search-attempts.js';
import { hasNews, toNumber } from './made-answers.js';

/**
 * Saves searches as runs do, and compares nothing: ledger, answers, match sets, states and outcomes. It is told whose answers are new, so that
 * it reads no state of before and only dates those that are the same: less than any run could do that knows nothing of the night before.
 */
export async function storeScreenings(
  session: RunSession,
  accountId: number,
  finished: readonly FinishedSearch[],
  night: number,
): Promise<void> {
  const { workplace, run, organisation, lease } = session;
  await session.write(async (transaction) => {
    const now = workplace.clock.now();
    const answers = finished.flatMap(({ task, outcome }) => {
      if (outcome.kind !== 'screened') return [];
      const digest = digestAnswer(organisation.digestKey, outcome.body);
      return [{ task, body: outcome.body, digest, matchSet: toMatchSet(outcome.answer) }];
    });
    const [batchId, ids] = await Promise.all([
      insertCommitBatch(transaction, run.runId, lease.epoch, finished.length, now),
      saveResponses(transaction, organisation.organisationId, answers, now),
      saveAttempts(
        transaction,
        finished.map(({ attempts }) => attempts),
      ),
    ]);
    const states = answers.flatMap(({ task, digest, matchSet }) =>
      task.parties.map(
        ({ partyId, customerVersion }): NewPartyState => ({
          partyId,
          requestId: task.requestId,
          responseId: ids.get(digest) ?? 0,
          customerVersion,
          settingsDigest: workplace.settingsDigest,
          reportedScores: {},
          unreturned: [],
          state: toPartyState(matchSet, []),
          isKnown: night > 0 && !hasNews(toNumber(task.name), night),
        }),
      ),
    );
    await Promise.all([
      savePartyStates(transaction, { accountId, runId: run.runId, screenedAt: now }, states),
      saveScreeningResults(
        transaction,
        run.runId,
        batchId,
        states.map(({ partyId, responseId }) => ({ partyId, outcome: 'screened', responseId, reason: null })),
      ),
    ]);
  });
}
