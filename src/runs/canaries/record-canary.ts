import { type CanaryOutcome, type CanaryRound, saveCanaryOutcome } from '../../store/canaries.js';
import type { Queryable } from '../../store/database/database.js';
import { failRemaining } from '../../store/screenings.js';
import { takeBackAnswers } from '../../store/unconfirmed-answers.js';
import type { RunSession } from '../session/run-session.js';

/** Saves a control search; one that failed takes back, in the same transaction, everything that no earlier round has confirmed. */
export async function recordCanary(session: RunSession, round: CanaryRound, outcome: CanaryOutcome): Promise<void> {
  const { runId } = session.run;
  await session.write(async (transaction) => {
    await saveCanaryOutcome(transaction, runId, round, outcome);
    if (outcome.verdict === 'failed') await unscreenUnconfirmed(transaction, runId, session.workplace.clock.now());
  });
}

/**
 * A service that misses a listed party, or finds everybody, has said nothing about anyone since the round before, when it was still well;
 * and nobody else is asked about.
 */
export async function unscreenUnconfirmed(transaction: Queryable, runId: number, now: Date): Promise<void> {
  const reason = 'canary_failed';
  await takeBackAnswers(transaction, runId, { reason, now });
  await failRemaining(transaction, runId, reason);
}
