import { corroborate } from '../../changes/corroboration.js';
import { toItemMark } from '../../matches/review/item-code.js';
import type { WaitingItem } from '../../reports/working-list.js';
import { holdItems } from '../../store/decidable-items.js';
import { readOrganisation } from '../../store/organisations.js';
import { insertReviewSheet, readWaitingItems } from '../../store/waiting-items.js';
import type { Workplace } from '../workplace.js';
import { toItemStamp } from './decide-items.js';

/** A working list. */
export interface WorkingList {
  sheetId: number;
  exportedAt: Date;
  items: readonly WaitingItem[];
}

const itemsAtOnce = 1_000;

/** Puts together what waits for reviewers, each item with the mark by which a decision about it is read back. */
export async function exportItems(
  { database, settings, clock }: Workplace,
  { roster, exportedBy }: { roster: string | null; exportedBy: string },
): Promise<WorkingList> {
  const now = clock.now();
  const { name, digestKey } = await readOrganisation(database, settings.organisation);
  const sheetId = await insertReviewSheet(database, { exportedAt: now, exportedBy });
  const waiting = await readWaitingItems(database, { organisation: name, roster });
  const items: WaitingItem[] = [];
  for (let start = 0; start < waiting.length; start += itemsAtOnce) {
    const chunk = waiting.slice(start, start + itemsAtOnce);
    const held = await database.transaction((transaction) =>
      holdItems(
        transaction,
        chunk.map(({ itemId }) => itemId),
      ),
    );
    for (const { itemId, ...item } of chunk) {
      const seen = held.get(itemId);
      // What was decided while the list was put together waits no more.
      if (seen?.state !== 'open') continue;
      const mark = toItemMark({ itemId, stamp: toItemStamp(seen, digestKey) }, digestKey);
      items.push({ ...item, listed: seen.listed, mark, sheetId, corroboration: corroborate(item.party, seen.listed) });
    }
  }
  return { sheetId, exportedAt: now, items };
}
