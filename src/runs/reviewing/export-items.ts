import type { DiscrepancyList } from '../../reports/discrepancy-list.js';
import type { WaitingItem } from '../../reports/working-list.js';
import type { Database } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { insertReviewSheet, readWaitingItems } from '../../store/review/waiting.js';
import type { Workplace } from '../workplace.js';
import { listDiscrepancies } from './accept-discrepancies.js';
import { listBulkRows } from './bulk-absences.js';
import { requirePerson, requireRoster } from './require-known.js';
import { toWaitingItem } from './to-waiting-item.js';

/** A working list. */
export interface WorkingList {
  sheetId: number;
  exportedAt: Date;
  items: readonly WaitingItem[];
  discrepancies: DiscrepancyList;
}

/** Which items a working list is made of, and by whom. */
export interface WorkingListRequest {
  roster: string | null;
  exportedBy: string;
  /** Only what this person answers for. */
  assignee?: string | null;
  /** Only what waits for a second person. */
  onlyProposals?: boolean;
  /** Discrepancies beyond those that fit on a sheet as well. */
  allDiscrepancies?: boolean;
  /** Without what this person has proposed, which others have to confirm. */
  notProposedBy?: string | null;
}

/** Puts together what waits for reviewers, each item with the mark by which a decision about it is read back. Throws ConfigError for an unknown name. */
export async function exportItems(
  { database, settings, clock }: Workplace,
  {
    roster,
    exportedBy,
    assignee = null,
    onlyProposals = false,
    notProposedBy = null,
    allDiscrepancies = false,
  }: WorkingListRequest,
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
  const discrepancies = await chooseDiscrepancies(database, name, {
    ...{ roster, onlyProposals, notProposedBy, allDiscrepancies },
    isAssigned: assignee !== null,
  });
  return { sheetId, exportedAt: now, items: [...bulk, ...items.map(({ shown }) => shown)], discrepancies };
}

/** The discrepancies of a working list; nobody answers for one of them. */
async function chooseDiscrepancies(
  database: Database,
  organisation: string,
  choice: Required<Pick<WorkingListRequest, 'roster' | 'onlyProposals' | 'notProposedBy' | 'allDiscrepancies'>> & {
    isAssigned: boolean;
  },
): Promise<DiscrepancyList> {
  const { roster, onlyProposals, notProposedBy, allDiscrepancies, isAssigned } = choice;
  const isChosen = onlyProposals || notProposedBy !== null;
  const none = { count: 0, listed: [] };
  if (isAssigned) return none;
  const all =
    (await listDiscrepancies(database, organisation, { roster }, isChosen || allDiscrepancies ? null : undefined)) ??
    none;
  if (!isChosen) return all;
  const listed = all.listed.filter(({ acceptance }) => {
    const proposer = acceptance?.isFinal === false ? acceptance.reviewer : null;
    return (proposer !== null || !onlyProposals) && (proposer === null || proposer !== notProposedBy);
  });
  return { count: listed.length, listed };
}
