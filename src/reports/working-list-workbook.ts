import { maxListRows, toListSheet } from './list-sheet.js';
import { renderWorkbook } from './spreadsheet/render-workbook.js';
import { toCutNotice, toGuideSheet, toWarning, type WorkbookFacts } from './workbook-guide.js';
import type { WaitingItem } from './working-list.js';

/**
 * A working list as a workbook (XLSX) of the items given first, at most `maxRows`: all but the columns to fill in is locked, without a password,
 * and no cell is a formula, whatever names begin with.
 */
export function renderWorkingListWorkbook(
  items: readonly WaitingItem[],
  facts: WorkbookFacts,
  maxRows = maxListRows,
): AsyncGenerator<Uint8Array> {
  const shown = items.slice(0, maxRows);
  // Below the items, so that the sheet saved as CSV begins with its headers.
  const below = facts.waiting > shown.length ? [toWarning(toCutNotice(shown.length, facts))] : [];
  return renderWorkbook({
    title: `Working list S-${facts.sheetId}`,
    createdAt: facts.exportedAt,
    warning: null,
    sheets: [
      toListSheet(shown, { below }),
      ...(facts.discrepancySheet ? [facts.discrepancySheet] : []),
      toGuideSheet(shown.length, facts),
    ],
  });
}
