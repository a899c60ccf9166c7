import { toItemMark } from '../../matches/review/item-code.js';
import { readAtOnce } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { readDecidableItems } from '../../store/review/decisions.js';
import { type ItemHistory, readItemHistories } from '../../store/review/waiting.js';
import type { Workplace } from '../workplace.js';
import { toItemStamp } from './item-stamp.js';
import { requireCustomer } from './require-known.js';

/** An item with its history, and the mark by which it is named as it is now. */
export type ShownItem = Omit<ItemHistory, 'itemId'> & { mark: string };

/** Every item of the customers of this reference, each with all that has become of it; throws ConfigError for an unknown one. */
export async function showItems(
  { database, settings, clock }: Workplace,
  reference: string,
): Promise<readonly ShownItem[]> {
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireCustomer(database, organisationId, { reference, where: 'argument customer' });
  return readAtOnce(database, async (snapshot) => {
    const histories = await readItemHistories(snapshot, name, reference, clock.now());
    const items = await readDecidableItems(
      snapshot,
      histories.map(({ itemId }) => itemId),
    );
    return histories.flatMap(({ itemId, ...history }) => {
      const item = items.get(itemId);
      if (item === undefined) return [];
      return { mark: toItemMark({ itemId, stamp: toItemStamp(item, digestKey) }, digestKey), ...history };
    });
  });
}
