import type { Database } from './database.js';

/**
 * Tells the database how much a run has put into its tables. Without it the statements that close a large run soon after it began are
 * planned for empty tables, and take minutes in place of seconds. To be called outside the transaction that closes the run: its locks
 * would keep other runs waiting.
 */
export async function refreshRunStatistics(database: Database): Promise<void> {
  await database.execute(
    `analyze screening (run_id, party_id, request_id, outcome, plan_reason), change_event (run_id, party_id, is_baseline, cause),
       party_state (account_id, party_id), review_item (account_id, party_id), search_attempt (run_id, request_id, outcome)`,
  );
}
