import type { WaitingItem } from '../../reports/working-list.js';
import { readOrganisation } from '../../store/organisations.js';
import { insertReviewSheet, readWaitingItems } from '../../store/waiting-items.js';
import type { Workplace } from '../workplace.js';
import { listBulkRows } from './bulk-absences.js';
import { requirePerson, requireRoster } from './require-known.js';
import { toWaitingItem } from './to-waiting-item.js';

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
  const all = await readWaitingItems(database, { organisation: name, roster, assignee, now });
  const waiting = all.filter(
    ({ proposal }) =>
      (proposal !== null || !onlyProposals) && (proposal === null || proposal.reviewer !== notProposedBy),
  );
  const items = waiting.map((item) => ({ itemId: item.itemId, shown: toWaitingItem(item, { sheetId, digestKey }) }));
  const bulk = await listBulkRows(database, items, { sheetId, digestKey });
  return { sheetId, exportedAt: now, items: [...bulk, ...items.map(({ shown }) => shown)] };
}
