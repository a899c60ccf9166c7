import { type Cell, type ColumnDef, type WriteSheet, writeXlsx } from 'hucre/xlsx';
import { dispositionVerdicts } from '../matches/review/disposition.js';
import { toCutNotice, toGuideSheet, type WorkbookFacts, workbookSheet } from './workbook-guide.js';
import { toRowHeight, toWorkbookText, workbookFont } from './workbook-text.js';
import { type WaitingItem, workingListColumns, workingListTable } from './working-list.js';

/** The most rows of a workbook: what people scroll through; a CSV file has no such limit. */
export const maxWorkbookRows = 10_000;

// In the order in which one reads: who, beside whom, what to fill in, then the rest. Widths in characters.
const layout: readonly (readonly [header: string, width: number])[] = [
  ['severity', 10],
  ['due', 21],
  ['reference', 14],
  ['name', 26],
  ['birth_date', 12],
  ['countries', 11],
  ['listed_name', 26],
  ['listed_for', 20],
  ['listed_birth_dates', 18],
  ['birth_date_compared', 20],
  ['listed_countries', 16],
  ['country_compared', 18],
  [workingListColumns.decision, 16],
  [workingListColumns.reason, 32],
  [workingListColumns.comment, 32],
  ['proposed', 15],
  ['proposed_by', 17],
  ['proposed_at', 21],
  ['proposed_reason', 32],
  ['reopened_because', 18],
  ['last_decision', 15],
  ['last_decided_by', 17],
  ['last_decided_at', 21],
  ['last_reason', 28],
  ['legacy_decision', 17],
  ['legacy_decided_by', 18],
  ['legacy_decided_at', 18],
  ['legacy_reason', 28],
  ['legacy_sample', 15],
  ['because', 22],
  ['priority', 9],
  ['role', 12],
  ['type', 9],
  ['risk_tier', 10],
  ['listed_kind', 13],
  ['hit', 6],
  ['score', 8],
  ['rank', 7],
  ['open_since', 21],
  ['assigned_to', 14],
  ['match_id', 24],
  ['mode', 8],
  [workingListColumns.item, 26],
  [workingListColumns.sheet, 9],
];
const filledIn: readonly string[] = [
  workingListColumns.decision,
  workingListColumns.reason,
  workingListColumns.comment,
];

// Each cell takes its direction from its own text.
const boldFont = { ...workbookFont, bold: true };
const alignment = { vertical: 'top', wrapText: true, readingOrder: 'context' } as const;
const toFill = (rgb: string) => ({ type: 'pattern', pattern: 'solid', fgColor: { rgb } }) as const;
const line = { style: 'thin', color: { rgb: 'C8C8C8' } } as const;
const border = { top: line, right: line, bottom: line, left: line };
const readStyle = { alignment, border, protection: { locked: true } };
const fillStyle = { alignment, border, protection: { locked: false }, fill: toFill('FFF8DC') };

/**
 * A working list as a workbook (XLSX) of the items given first, at most `maxRows`: all but the columns to fill in is locked, without a password,
 * and no cell is a formula, whatever names begin with.
 */
export function renderWorkbook(
  items: readonly WaitingItem[],
  facts: WorkbookFacts,
  maxRows = maxWorkbookRows,
): Promise<Uint8Array> {
  const shown = items.slice(0, maxRows);
  return writeXlsx({
    sheets: [toListSheet(shown, facts), toGuideSheet(shown.length, facts)],
    defaultFont: workbookFont,
    properties: { title: `Working list S-${facts.sheetId}`, created: facts.exportedAt },
  });
}

function toListSheet(items: readonly WaitingItem[], facts: WorkbookFacts): WriteSheet {
  const cells = layout.map(([header]) => workingListTable.find((column) => column.header === header)?.cell);
  const rows = items.map((item) => cells.map((cell) => toWorkbookText(cell?.(item) ?? null)));
  const headers = layout.map(([header]) => header);
  const widths = layout.map(([, width]) => width);
  const lastColumn = toLetters(layout.length - 1);
  const lastRow = items.length + 1;
  const columns = layout.map(
    ([header, width]): ColumnDef => ({ width, style: filledIn.includes(header) ? fillStyle : readStyle }),
  );
  const overrides = new Map<string, Partial<Cell>>(
    layout.map(([header], index) => [
      `0,${index}`,
      {
        value: header,
        style: {
          ...readStyle,
          font: boldFont,
          fill: toFill(filledIn.includes(header) ? 'FFE08A' : 'DDE3EA'),
        },
      },
    ]),
  );
  const left = facts.waiting - items.length;
  if (left > 0) {
    const style = { font: { ...boldFont, color: { rgb: 'B00020' } }, protection: { locked: true } };
    overrides.set(`${lastRow},0`, { value: toCutNotice(items.length, facts), style: { ...readStyle, ...style } });
  }
  const decision = toLetters(layout.findIndex(([header]) => header === workingListColumns.decision));
  return {
    name: workbookSheet,
    columns,
    rows: [headers, ...rows],
    cells: overrides,
    ...(left > 0 && { merges: [{ startRow: lastRow, endRow: lastRow, startCol: 0, endCol: 11 }] }),
    rowDefs: new Map([headers, ...rows].map((row, index) => [index, { height: toRowHeight(row, widths) }])),
    freezePane: { rows: 1 },
    autoFilter: { range: `A1:${lastColumn}${lastRow}` },
    dataValidations: [
      {
        type: 'list',
        values: [...dispositionVerdicts],
        range: `${decision}2:${decision}${Math.max(2, lastRow)}`,
        allowBlank: true,
        showErrorMessage: true,
        errorTitle: 'Decision',
        errorMessage: `One of ${dispositionVerdicts.join(', ')}, or nothing.`,
      },
    ],
    protection: { sheet: true, autoFilter: true, formatColumns: true, formatRows: true },
    pageSetup: { orientation: 'landscape' },
  };
}

function toLetters(index: number): string {
  const rest = index < 26 ? '' : toLetters(Math.floor(index / 26) - 1);
  return `${rest}${String.fromCharCode(65 + (index % 26))}`;
}
