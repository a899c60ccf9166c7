import type { Queryable } from '../../store/database.js';
import { readReviewItems } from '../../store/review-items.js';
import { findCutParties, saveReviewedStates } from '../../store/reviewed-states.js';
import { toReviewedState } from './to-reviewed-state.js';

/** Says of parties what their items make of them: what was decided about all that they are hits for. */
export async function settleParties(
  transaction: Queryable,
  parties: readonly { partyId: number; accountId: number }[],
): Promise<void> {
  const accounts = new Set(parties.map(({ accountId }) => accountId));
  for (const accountId of accounts) {
    const partyIds = [...new Set(parties.flatMap((party) => (party.accountId === accountId ? party.partyId : [])))];
    const items = await readReviewItems(transaction, accountId, partyIds);
    const cut = await findCutParties(transaction, accountId, partyIds);
    const states = partyIds.map((partyId) => ({
      partyId,
      reviewedState: toReviewedState(items.get(partyId) ?? [], cut.has(partyId)),
    }));
    await saveReviewedStates(transaction, accountId, states);
  }
}
