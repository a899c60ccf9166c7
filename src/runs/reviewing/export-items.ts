import { corroborate } from '../../changes/corroboration.js';
import { toItemMark } from '../../matches/review/item-code.js';
import type { WaitingItem } from '../../reports/working-list.js';
import { readDecidableItems } from '../../store/decidable-items.js';
import { readOrganisation } from '../../store/organisations.js';
import { insertReviewSheet, readWaitingItems } from '../../store/waiting-items.js';
import type { Workplace } from '../workplace.js';
import { toItemStamp } from './item-stamp.js';

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

/** Puts together what waits for reviewers, each item with the mark by which a decision about it is read back. */
export async function exportItems(
  { database, settings, clock }: Workplace,
  { roster, exportedBy, assignee = null, onlyProposals = false, notProposedBy = null }: WorkingListRequest,
): Promise<WorkingList> {
  const now = clock.now();
  const { name, digestKey } = await readOrganisation(database, settings.organisation);
  const sheetId = await insertReviewSheet(database, { exportedAt: now, exportedBy });
  const all = await readWaitingItems(database, { organisation: name, roster, assignee, now });
  const waiting = all.filter(
    ({ proposal }) =>
      (proposal !== null || !onlyProposals) && (proposal === null || proposal.reviewer !== notProposedBy),
  );
  const items: WaitingItem[] = [];
  for (let start = 0; start < waiting.length; start += itemsAtOnce) {
    const chunk = waiting.slice(start, start + itemsAtOnce);
    const current = await readDecidableItems(
      database,
      chunk.map(({ itemId }) => itemId),
    );
    for (const { itemId, ...item } of chunk) {
      const seen = current.get(itemId);
      // What was decided, or proposed otherwise, while the list was put together is on the next one.
      if (seen?.state !== item.state || (item.proposal !== null && !isOf(item.proposal, seen.standing))) continue;
      const mark = toItemMark({ itemId, stamp: toItemStamp(seen, digestKey) }, digestKey);
      items.push({ ...item, listed: seen.listed, mark, sheetId, corroboration: corroborate(item.party, seen.listed) });
    }
  }
  return { sheetId, exportedAt: now, items };
}

const isOf = (
  proposal: NonNullable<WaitingItem['proposal']>,
  standing: { reviewer: string; verdict: string } | null,
): boolean => proposal.reviewer === standing?.reviewer && proposal.verdict === standing.verdict;
