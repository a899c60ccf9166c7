import { toMatchSet, toPartyState } from '../../src/matches/match.js';
import { digestAnswer, type FinishedSearch, readKnownStates } from '../../src/runs/screening/commit.js';
import type { WatchedAccount } from '../../src/runs/screening/monitoring.js';
import type { RunSession } from '../../src/runs/session.js';
import { insertCommitBatch, saveAttempts } from '../../src/store/ledger.js';
import { saveResponses } from '../../src/store/responses.js';
import { savePartyStates, saveScreeningResults } from '../../src/store/screenings.js';

/**
 * Saves searches as runs do, and compares nothing: ledger, answers, match sets, states and outcomes. It reads which answer was the last, so that
 * what is the same is only dated: that costs less than writing every state anew.
 */
export async function storeScreenings(
  session: RunSession,
  account: WatchedAccount,
  finished: readonly FinishedSearch[],
): Promise<void> {
  const { app, run, organisation, lease } = session;
  await session.write(async (transaction) => {
    const now = app.clock.now();
    const answers = finished.flatMap(({ task, outcome }) => {
      if (outcome.kind !== 'screened') return [];
      const digest = digestAnswer(organisation.digestKey, outcome.body);
      return [{ task, body: outcome.body, digest, matchSet: toMatchSet(outcome.answer) }];
    });
    const [batchId, known, ids] = await Promise.all([
      insertCommitBatch(transaction, run.runId, lease.epoch, finished.length, now),
      readKnownStates(transaction, account, finished),
      saveResponses(transaction, organisation.organisationId, answers, now),
      saveAttempts(
        transaction,
        finished.map(({ attempts }) => attempts),
      ),
    ]);
    const states = answers.flatMap(({ task, digest, matchSet }) =>
      task.parties.map(({ partyId, customerVersion }): Parameters<typeof savePartyStates>[2][number] => ({
        partyId,
        requestId: task.requestId,
        responseId: ids.get(digest) ?? 0,
        customerVersion,
        settingsDigest: app.settingsDigest,
        reportedScores: {},
        unreturned: [],
        state: toPartyState(matchSet, []),
        isKnown: known.get(partyId)?.responseId === ids.get(digest),
      })),
    );
    await Promise.all([
      savePartyStates(transaction, { accountId: account.accountId, runId: run.runId, screenedAt: now }, states),
      saveScreeningResults(
        transaction,
        run.runId,
        batchId,
        states.map(({ partyId, responseId }) => ({ partyId, outcome: 'screened', responseId, reason: null })),
      ),
    ]);
  });
}
