import type { Queryable } from './database.js';
import { holdStates } from './party-states.js';

/** Notes which parties a run failed to screen, so that the next plan asks about them whatever their cadence says. */
export async function noteFailedParties(transaction: Queryable, runId: number): Promise<void> {
  await holdStates(
    transaction,
    `select run.account_id, screening.party_id from screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and screening.outcome = 'failed'`,
    [runId],
  );
  await transaction.execute(
    `update party_state set failed_run_id = screening.run_id
     from screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and screening.outcome = 'failed'
       and party_state.account_id = run.account_id and party_state.party_id = screening.party_id`,
    [runId],
  );
}
