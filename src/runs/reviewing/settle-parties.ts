import type { Queryable } from '../../store/database.js';
import { readReviewItems } from '../../store/review-items.js';
import { findCutParties, saveReviewedStates } from '../../store/reviewed-states.js';
import { findPartiesWithNews } from '../../store/unprojected-changes.js';
import { toReviewedState } from './to-reviewed-state.js';

const none: ReadonlySet<number> = new Set();

/**
 * Says of parties what their items make of them: what was decided about all that they are hits for. `open` while runs may have found what is
 * no item yet: no decision about the others settles a party of whom there is such news.
 */
export async function settleParties(
  transaction: Queryable,
  parties: readonly { partyId: number; accountId: number }[],
  runs: 'closing' | 'open',
): Promise<void> {
  const accounts = new Set(parties.map(({ accountId }) => accountId));
  for (const accountId of accounts) {
    const partyIds = [...new Set(parties.flatMap((party) => (party.accountId === accountId ? party.partyId : [])))];
    const items = await readReviewItems(transaction, accountId, partyIds);
    const cut = await findCutParties(transaction, accountId, partyIds);
    const withNews = runs === 'open' ? await findPartiesWithNews(transaction, accountId, partyIds) : none;
    const states = partyIds.map((partyId) => {
      const decided = toReviewedState(items.get(partyId) ?? [], cut.has(partyId));
      const isHeld = withNews.has(partyId) && decided !== 'confirmed';
      return { partyId, reviewedState: isHeld ? null : decided, formerState: decided };
    });
    await saveReviewedStates(transaction, accountId, states);
  }
}
