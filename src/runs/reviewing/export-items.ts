import { corroborate } from '../../changes/corroboration.js';
import { toItemMark } from '../../matches/review/item-code.js';
import type { WaitingItem } from '../../reports/working-list.js';
import { readDecidableItems } from '../../store/decidable-items.js';
import { readOrganisation } from '../../store/organisations.js';
import { readAtOnce } from '../../store/read-at-once.js';
import { insertReviewSheet, readWaitingItems } from '../../store/waiting-items.js';
import type { Workplace } from '../workplace.js';
import { toItemStamp } from './item-stamp.js';
import { requirePerson, requireRoster } from './require-known.js';

/** A working list. */
export interface WorkingList {
  sheetId: number;
  exportedAt: Date;
  items: readonly WaitingItem[];
}

/** Which items a working list is made of, and by whom. */
export interface WorkingListRequest {
  roster: string | null;
  exportedBy: string;
  /** Only what this person answers for. */
  assignee?: string | null;
  /** Only what waits for a second person. */
  onlyProposals?: boolean;
  /** Without what this person has proposed, which others have to confirm. */
  notProposedBy?: string | null;
}

const itemsAtOnce = 1_000;

/** Puts together what waits for reviewers, each item with the mark by which a decision about it is read back. Throws ConfigError for an unknown name. */
export async function exportItems(
  { database, settings, clock }: Workplace,
  { roster, exportedBy, assignee = null, onlyProposals = false, notProposedBy = null }: WorkingListRequest,
): Promise<WorkingList> {
  const now = clock.now();
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireRoster(database, organisationId, roster);
  await requirePerson(database, organisationId, { name: assignee, flag: '--assignee' });
  const sheetId = await insertReviewSheet(database, { exportedAt: now, exportedBy });
  const items = await readAtOnce(database, async (snapshot) => {
    const all = await readWaitingItems(snapshot, { organisation: name, roster, assignee, now });
    const waiting = all.filter(
      ({ proposal }) =>
        (proposal !== null || !onlyProposals) && (proposal === null || proposal.reviewer !== notProposedBy),
    );
    const marked: WaitingItem[] = [];
    for (let start = 0; start < waiting.length; start += itemsAtOnce) {
      const chunk = waiting.slice(start, start + itemsAtOnce);
      const current = await readDecidableItems(
        snapshot,
        chunk.map(({ itemId }) => itemId),
      );
      for (const { itemId, ...item } of chunk) {
        const seen = current.get(itemId);
        if (seen === undefined) continue;
        const mark = toItemMark({ itemId, stamp: toItemStamp(seen, digestKey) }, digestKey);
        marked.push({ ...item, mark, sheetId, corroboration: corroborate(item.party, item.listed) });
      }
    }
    return marked;
  });
  return { sheetId, exportedAt: now, items };
}
