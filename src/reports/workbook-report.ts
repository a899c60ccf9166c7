import { severityRules } from '../changes/severity.js';
import { codeWords } from '../vocabulary/words.js';
import { listEvidence, listFactBlocks } from './facts.js';
import { toChangesSection, toDossierSection, toNotScreenedSection } from './lists.js';
import { type Report, toTitle } from './report.js';
import { listGuideRows, toDiscrepancySheet, toReviewSheet } from './review-list.js';
import type { Fact, FactBlock, ListSection } from './section.js';
import {
  renderWorkbook,
  type Sheet,
  type SheetRow,
  toHeadingRow,
  toLine,
  toTableSheet,
  toWarning,
} from './spreadsheet.js';
import { countNoun, formatCount, keep } from './text.js';
import { listRunAcceptances } from './words.js';

/** A sheet of facts; a block without facts is left out. */
function toFactSheet(
  name: string,
  {
    top,
    blocks,
    bottom = [],
  }: { top: readonly SheetRow[]; blocks: readonly FactBlock[]; bottom?: readonly SheetRow[] },
): Sheet {
  const rows = blocks
    .filter(({ facts }) => facts.length > 0)
    .flatMap(({ title, facts }): readonly SheetRow[] => [{ cells: [] }, toHeadingRow(title), ...facts.map(toRow)]);
  return {
    name,
    columns: [
      { width: 32, style: 'plain' },
      { width: 36, style: 'plain' },
      { width: 90, style: 'plain' },
    ],
    listRows: () => [...top, ...rows, ...bottom],
    table: null,
    dropdowns: [],
  };
}

const toRow = ([name, value, note = null]: Fact): SheetRow => ({
  cells: [name, value, note],
  styles: ['text', typeof value === 'number' ? 'figure' : 'text', 'text'],
});

function toSummarySheet(report: Report, above: readonly SheetRow[]): Sheet {
  const { verdict } = report;
  const top: readonly SheetRow[] = [
    ...above,
    { cells: [toTitle(report)], styles: ['title'] },
    toLine(`Times are in ${report.run.timezone}.`),
    toHeadingRow(codeWords.level[verdict.level]),
    ...keep(
      verdict.coverage,
      verdict.waiting,
      verdict.news,
      ...listRunAcceptances(report.held, report.run.timezone),
      ...verdict.remarks,
    ).map(toLine),
  ];
  return toFactSheet('Summary', { top, blocks: listFactBlocks(report) });
}

const testWarning = 'TEST: not evidence';

/**
 * `report.xlsx`: the report as a workbook. Reviewers fill in the sheets `To review` and `Discrepancies`, and `review import` reads them. A part
 * that the run does not have has no sheet.
 */
export function renderReportWorkbook(report: Report): AsyncGenerator<Uint8Array> {
  const warning = report.run.mode === 'test' ? testWarning : null;
  const above =
    warning === null
      ? []
      : [toWarning(`${warning}. This run used a test key; its answers are not about real customers.`)];
  const changes = toChangesSection(report);
  const dossiers = toDossierSection(report);
  const notScreened = toNotScreenedSection(report);
  const sheets = [
    toSummarySheet(report, above),
    report.toReview && toReviewSheet(report.toReview, above),
    report.discrepancies &&
      toDiscrepancySheet(report.discrepancies, { at: report.run.finishedAt, timezone: report.run.timezone, above }),
    changes && toReadOnlySheet(changes, 3, above),
    dossiers && toReadOnlySheet(dossiers, 2, above),
    notScreened && toReadOnlySheet(notScreened, 2, above),
    toMethodSheet(report, above),
  ];
  return renderWorkbook({
    title: `${toTitle(report)}, ${report.run.runId}`,
    createdAt: report.run.finishedAt,
    timezone: report.run.timezone,
    warning,
    organisation: report.nameInCommands,
    sheets: sheets.filter((sheet) => sheet !== null),
  });
}

const methodBlocks: readonly FactBlock[] = [
  {
    title: 'Severity: by the first rule that applies',
    facts: severityRules.map(({ rule, severity, when }) => [rule, codeWords.severity[severity], when]),
  },
  {
    title: 'States of a customer',
    facts: Object.values(codeWords.state).map(({ name, meaning }) => [name, null, meaning]),
  },
];

function toMethodSheet(report: Report, above: readonly SheetRow[]): Sheet {
  const screens = report.changes !== null;
  const has = { alerts: report.toReview !== null, discrepancies: report.discrepancies !== null };
  return toFactSheet('Method', {
    top: [
      ...above,
      { cells: ['Method and instructions'], styles: ['title'] },
      ...keep(
        screens &&
          'Each customer in scope is searched for at the service by name, type, birth date and country. The answer is compared with the last result that was reported or has a disposition. Each difference is a change. Matches of a first screening are listed separately.',
        screens &&
          'The service flags a match as a hit by its own threshold. Score and rank are shown as it sent them. Nightscreen assigns the severity by the table below. Settings may give a rule another severity. The settings digest identifies the settings in force.',
        'The workbook contains only facts that were stored when the run closed. If it is written again later, it has the same bytes.',
      ).map(toLine),
    ],
    blocks: [{ title: 'Evidence', facts: listEvidence(report) }, ...(screens ? methodBlocks : [])],
    bottom: has.alerts || has.discrepancies ? listGuideRows('nightscreen review import report.xlsx', has) : [],
  });
}

/** The most rows of a read-only sheet, which keeps a workbook with all sheets full small enough for mail. */
export const maxTableRows = 20_000;

/** The first `maxTableRows` lines of a section; `firstColumns` identify a line. */
export function toReadOnlySheet<Line>(
  section: ListSection<Line>,
  firstColumns: number,
  above: readonly SheetRow[],
): Sheet {
  const lines = section.lines.slice(0, maxTableRows);
  const notice = `Only the first ${formatCount(lines.length)} of ${countNoun(section.count, 'line')} are listed. All of them are in ${section.file}.`;
  const isCut = lines.length < section.count;
  return toTableSheet({ ...section, lines }, firstColumns, { above: isCut ? [...above, toWarning(notice)] : above });
}
