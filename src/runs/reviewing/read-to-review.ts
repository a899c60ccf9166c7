import type { ToReviewFacts } from '../../reports/working-list.js';
import type { Queryable } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { readReportSheet } from '../../store/report-revisions.js';
import { toWaitingItem } from './to-waiting-item.js';

/** What waited for reviewers when a run closed, each item with the mark by which a decision about it is read back; null where nothing is known of it. */
export async function readToReview(
  database: Queryable,
  runId: number,
  organisation: string,
): Promise<ToReviewFacts | null> {
  const sheet = await readReportSheet(database, runId);
  if (sheet === null) return null;
  const { digestKey } = await readOrganisation(database, organisation);
  const { sheetId, waiting } = sheet;
  return { sheetId, waiting, items: sheet.items.map((item) => toWaitingItem(item, { sheetId, digestKey })) };
}
