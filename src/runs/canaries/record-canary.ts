import { type CanaryOutcome, type CanaryRound, saveCanaryOutcome } from '../../store/canary-outcomes.js';
import type { Queryable } from '../../store/database.js';
import { expirePartyStates } from '../../store/party-states.js';
import { failAll } from '../../store/screenings.js';
import type { RunSession } from '../session/run-session.js';

/** Saves a control search; one that failed takes back, in the same transaction, everything that the run has said about anybody. */
export async function recordCanary(session: RunSession, round: CanaryRound, outcome: CanaryOutcome): Promise<void> {
  const { runId } = session.run;
  await session.write(async (transaction) => {
    await saveCanaryOutcome(transaction, runId, round, outcome);
    if (outcome.verdict === 'failed') await unscreenAll(transaction, runId);
  });
}

/** A service that misses a listed party, or finds everybody, has said nothing about anyone in this run. */
export async function unscreenAll(transaction: Queryable, runId: number): Promise<void> {
  await failAll(transaction, runId, 'canary_failed');
  await expirePartyStates(transaction, runId);
}
