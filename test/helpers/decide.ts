import { decideItems, type ItemDecision } from '../../src/runs/review/decide.js';
import { toItemStamp } from '../../src/runs/review/items.js';
import { findReviewer } from '../../src/runs/review/people.js';
import type { Database } from '../../src/store/database/database.js';
import { holdItems } from '../../src/store/review/decisions.js';

/** What keeps the codes of items that a test decides about. */
export const digestKey = Buffer.from('a key of the test');
const alone = { fourEyes: [], expiresAfterDays: {} };

/** Decides about items as somebody would who has just looked at them. */
export async function decide(database: Database, itemIds: readonly number[], facts: Partial<ItemDecision> = {}) {
  const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
  return database.transaction(async (transaction) => {
    const items = await holdItems(transaction, itemIds);
    const decisions = [...items.values()].map((item): ItemDecision => {
      const stamp = toItemStamp(item, digestKey);
      const decision = {
        verdict: 'false_positive',
        reason: 'another birth date',
        comment: null,
        origin: 'review',
        sheetId: null,
      } as const;
      return { itemId: item.itemId, ...decision, stamp, expiresAt: null, ...facts };
    });
    return decideItems(transaction, { digestKey, reviewer, now: new Date(), review: alone }, decisions);
  });
}
