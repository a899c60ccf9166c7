import { mostAcceptedDays } from '../reconciliation/discrepancy.js';
import { countNoun, formatCount } from './format-count.js';
import { formatTime } from './format-time.js';
import { listSheetName } from './list-sheet.js';
import type { Sheet, SheetRow } from './spreadsheet/sheet.js';

/** The sheet on which reviewers accept discrepancies. */
export const discrepancySheetName = 'Discrepancies';

/** A row of text. */
export const toLine = (text: string): SheetRow => ({ cells: [text], styles: ['plain'], isAcross: true });

/** A row that heads others. */
export const toHeading = (text: string): SheetRow => ({ cells: [text], styles: ['heading'] });

/** A row that nobody should overlook. */
export const toWarning = (text: string): SheetRow => ({ cells: [text], styles: ['warning'], isAcross: true });

/** What a workbook says of itself. */
export interface WorkbookFacts {
  sheetId: number;
  exportedAt: Date;
  /** How many items wait, also beyond those that fit. */
  waiting: number;
  /** The sheet of discrepancies, where some stand. */
  discrepancySheet?: Sheet | null;
  /** What to type to take the workbook back. */
  importCommand: string;
  /** What to type for a list of all that waits. */
  wholeListCommand: string;
}

/** The sheet that says how to fill the other one in, and how to take it back. */
export function toGuideSheet(shown: number, facts: WorkbookFacts): Sheet {
  const { sheetId, exportedAt, waiting, discrepancySheet = null, importCommand } = facts;
  const title = `Working list S-${sheetId} of ${formatTime(exportedAt)}: ${countNoun(shown, 'item')} to decide`;
  return {
    name: 'How to',
    columns: [{ width: 100, style: 'plain' }],
    rows: [
      { cells: [title], styles: ['title'] },
      ...(waiting > shown ? [toWarning(toCutNotice(shown, facts))] : []),
      ...listGuideRows(importCommand, { alerts: true, discrepancies: discrepancySheet !== null }),
    ],
    table: null,
    dropdowns: [],
  };
}

const alertGuideRows: readonly SheetRow[] = [
  { cells: [] },
  toHeading(`What to fill in, in the yellow columns of the sheet "${listSheetName}"`),
  toLine(
    'Decision: true_match (it is the customer), false_positive (it is somebody else), inconclusive (it cannot be told) or no_longer_matched (the match is absent, and nothing remains to be done). Leave it empty for what you have not decided.',
  ),
  toLine(
    'Reason: what you decide on. Every decision needs one; the usual ones can be chosen, any other can be written.',
  ),
  toLine('Comment: whatever else should be kept with it.'),
];

const discrepancyGuideRows: readonly SheetRow[] = [
  { cells: [] },
  toHeading(`What to fill in, in the yellow columns of the sheet "${discrepancySheetName}"`),
  toLine(
    `Accept until: the last day on which the discrepancy may stand as it is, as yyyy-mm-dd, at most ${mostAcceptedDays} days ahead. It comes back after that day, and as soon as its facts change. A critical one cannot be accepted. Leave it empty for what has to be mended.`,
  ),
  toLine('Reason: why it may stand. Each acceptance needs one.'),
];

/** How to fill the sheets in that a workbook has, and how to take them back. */
export const listGuideRows = (
  importCommand: string,
  has: { alerts: boolean; discrepancies: boolean },
): readonly SheetRow[] => [
  ...(has.alerts ? alertGuideRows : []),
  ...(has.discrepancies ? discrepancyGuideRows : []),
  { cells: [] },
  toHeading('How to take it back'),
  toLine('Save the workbook as .xlsx. This says what it would do and stores nothing:'),
  toLine(importCommand),
  toLine('The same with --apply stores it. A list that is imported twice decides nothing twice.'),
  { cells: [] },
  toHeading('Good to know'),
  toLine(
    'Nothing can be typed into the other cells, so that nothing is changed by accident. Sort and filter by the arrows in the headings, which move whole rows. Removing rows asks for the protection to be taken off; it has no password, and does no harm.',
  ),
  toLine(
    'Beside what you fill in only the column Item, or Discrepancy, is read back. What a spreadsheet makes of dates, scores and ids does not matter.',
  ),
  toLine('What has changed since the list was written is refused when you import it, with the reason.'),
];

/** What is said where not all that waits fits. */
export const toCutNotice = (
  shown: number,
  { waiting, wholeListCommand }: Pick<WorkbookFacts, 'waiting' | 'wholeListCommand'>,
): string =>
  `The ${formatCount(shown)} most urgent of ${countNoun(waiting, 'item')}. For all of them: ${wholeListCommand}`;
