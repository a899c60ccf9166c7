import type { WriteSheet } from 'hucre/xlsx';
import { countNoun, formatCount } from './format-count.js';
import { toRowHeight, toWorkbookText, workbookFont } from './workbook-text.js';

/** The sheet that reviewers fill in. */
export const workbookSheet = 'To review';

/** What a workbook says of itself. */
export interface WorkbookFacts {
  sheetId: number;
  exportedAt: Date;
  /** How many items wait, also beyond those that fit. */
  waiting: number;
  /** What to type to take the workbook back. */
  importCommand: string;
  /** What to type for a list of all that waits. */
  wholeListCommand: string;
}

const guideWidth = 90;

/** The sheet that says how to fill the other one in, and how to take it back. */
export function toGuideSheet(shown: number, facts: WorkbookFacts): WriteSheet {
  const { sheetId, exportedAt, waiting } = facts;
  const lines: readonly [text: string, isBold: boolean][] = [
    [
      `Working list S-${sheetId} of ${toWorkbookText(exportedAt.toISOString())}: ${countNoun(shown, 'item')} to decide`,
      true,
    ],
    ...(waiting > shown ? [[toCutNotice(shown, facts), true] satisfies [string, boolean]] : []),
    ['', false],
    [`What to fill in, in the yellow columns of the sheet "${workbookSheet}"`, true],
    [
      'decision: true_match (it is the customer), false_positive (it is somebody else) or inconclusive (it cannot be told). Leave it empty for what you have not decided.',
      false,
    ],
    ['reason: what you decide on. Every decision needs one.', false],
    ['comment: whatever else should be kept with it.', false],
    ['', false],
    ['How to take it back', true],
    ['Save the workbook (.xlsx or CSV). This says what it would do and stores nothing:', false],
    [facts.importCommand, false],
    ['The same with --apply stores it. A list that is imported twice decides nothing twice.', false],
    ['', false],
    ['Good to know', true],
    [
      'All other cells are locked, so that nothing is changed by accident. Sorting and removing rows ask for the protection to be taken off; it has no password. Both do no harm.',
      false,
    ],
    [
      'Beside what you fill in only the column "item" is read back. What a spreadsheet makes of dates, scores and ids does not matter.',
      false,
    ],
    ['What has changed since the list was written is refused when you import it, with the reason.', false],
  ];
  return {
    name: 'How to',
    columns: [{ width: guideWidth, style: { alignment: { vertical: 'top', wrapText: true } } }],
    rows: lines.map(([text]) => [text === '' ? null : toWorkbookText(text)]),
    cells: new Map(
      lines.flatMap(([, isBold], row) =>
        isBold
          ? [
              [
                `${row},0`,
                { style: { font: { ...workbookFont, bold: true }, alignment: { vertical: 'top', wrapText: true } } },
              ],
            ]
          : [],
      ),
    ),
    rowDefs: new Map(lines.map(([text], row) => [row, { height: toRowHeight([text], [guideWidth]) }])),
    view: { showGridLines: false },
  };
}

/** What is said where not all that waits fits. */
export const toCutNotice = (shown: number, { waiting, wholeListCommand }: WorkbookFacts): string =>
  `The ${formatCount(shown)} most urgent of ${countNoun(waiting, 'item')}. For all of them: ${wholeListCommand}`;
