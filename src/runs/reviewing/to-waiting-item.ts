import { corroborate } from '../../changes/corroboration.js';
import { toItemMark } from '../../matches/review/item-code.js';
import type { WaitingItem } from '../../reports/working-list.js';
import type { StoredWaitingItem } from '../../store/review/waiting.js';
import { toItemStamp } from './item-stamp.js';

/** An item that waits as a list shows it, with the mark by which a decision about it is read back. */
export function toWaitingItem(
  { itemId, lastSaidId, ...item }: StoredWaitingItem,
  { sheetId, digestKey }: { sheetId: number; digestKey: Buffer },
): WaitingItem {
  const decisions = lastSaidId === null ? [] : [lastSaidId];
  const stamp = toItemStamp({ customer: item.party, listed: item.listed, decisions }, digestKey);
  const mark = toItemMark({ itemId, stamp }, digestKey);
  return { ...item, mark, sheetId, corroboration: corroborate(item.party, item.listed) };
}
