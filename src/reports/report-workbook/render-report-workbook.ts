import { toDiscrepancySheet } from '../discrepancy-list.js';
import { toListSheet } from '../list-sheet.js';
import type { Report } from '../report.js';
import { renderWorkbook } from '../spreadsheet/render-workbook.js';
import type { SheetRow } from '../spreadsheet/sheet.js';
import { toTitle } from '../title.js';
import { toCutNotice, toWarning } from '../workbook-guide.js';
import type { ToReviewFacts } from '../working-list.js';
import { toChangesSheet, toDossiersSheet, toNotScreenedSheet } from './finding-sheets.js';
import { toMethodSheet } from './method-sheet.js';
import { toSummarySheet } from './summary-sheet.js';

const testWarning = 'TEST: not evidence';

/**
 * `report.xlsx`: the report as a working paper whose sheets `To review` and `Discrepancies` are filled in and read back by `review import`; a part that the run does
 * not have has no sheet.
 */
export function renderReportWorkbook(report: Report): AsyncGenerator<Uint8Array> {
  const warning = report.run.mode === 'test' ? testWarning : null;
  const above =
    warning === null
      ? []
      : [toWarning(`${warning}. This run used a test key; its answers say nothing about real customers.`)];
  const sheets = [
    toSummarySheet(report, above),
    report.toReview && toListSheet(report.toReview.items, { above: [...above, ...listCutNotices(report.toReview)] }),
    report.discrepancies && toDiscrepancySheet(report.discrepancies, { at: report.run.finishedAt, above }),
    toChangesSheet(report, above),
    toDossiersSheet(report, above),
    toNotScreenedSheet(report, above),
    toMethodSheet(report, above),
  ];
  return renderWorkbook({
    title: `${toTitle(report)}, ${report.run.runId}`,
    createdAt: report.run.finishedAt,
    warning,
    sheets: sheets.filter((sheet) => sheet !== null),
  });
}

function listCutNotices({ items, waiting }: ToReviewFacts): readonly SheetRow[] {
  const wholeListCommand = 'nightscreen review export --out review.csv';
  return waiting > items.length ? [toWarning(toCutNotice(items.length, { waiting, wholeListCommand }))] : [];
}
