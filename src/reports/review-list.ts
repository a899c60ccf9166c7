import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { mostAcceptedDays } from '../reconciliation/discrepancy.js';
import type { RunMode } from '../vocabulary.js';
import { type Absence, type DispositionVerdict, dispositionVerdicts, type Severity } from '../vocabulary.js';
import { type Column, partyColumns, renderCsv } from './csv.js';
import type { ItemOwner, PartyFacts, ReplacedFacts } from './list-facts.js';
import { type Dropdown, renderWorkbook, type Sheet, type SheetRow } from './spreadsheet.js';
import { countNoun, formatCount, formatTime } from './text.js';
import { absenceWords, agreementWords, describeOwner, describeReplaced } from './words.js';

/** The columns that a reviewer fills in, and the one that says which item is meant; all others are for reading only. */
export const workingListColumns = {
  item: 'item',
  sheet: 'sheet',
  decision: 'decision',
  reason: 'reason',
  comment: 'comment',
} as const;

/** An item that waits, as a working list shows it. */
export interface WaitingItem {
  /** The cell by which it is known again. */
  mark: string;
  /** The working list that it is on. */
  sheetId: number;
  /** Of the account on which it was found. */
  mode: RunMode;
  party: PartyFacts;
  listed: Match;
  severity: Severity;
  rule: string;
  priority: number;
  corroboration: Corroboration;
  openedAt: Date;
  dueAt: Date | null;
  /** `proposed` waits for a second person. */
  state: 'open' | 'proposed';
  /** Why its match is absent, so that it waits to be confirmed as no longer matched; null while it is listed as a hit. */
  absence: Absence | null;
  absentSince: Date | null;
  /** Of a row that confirms many absent alerts of one listed party at once: how many, and customers to look at as a sample. */
  bulk?: { alerts: number; sample: readonly string[] };
  owner: ItemOwner | null;
  /** What somebody has proposed that nobody has confirmed yet. */
  proposal: { verdict: DispositionVerdict; reviewer: string; reason: string; decidedAt: Date } | null;
  /** Why it is open again; none for one that was never decided. */
  reopenedBecause: readonly string[];
  /** The last decision about it before that, whether it stands or not. */
  lastDecision: { verdict: string; reviewer: string; reason: string; decidedAt: Date } | null;
  replaced: ReplacedFacts | null;
  /** What an older system had decided, as it says so; `isSample` where that was not taken over so that somebody looks again. */
  legacy: { verdict: string; reviewer: string; reason: string; decidedAt: string; isSample: boolean } | null;
}

/** What waited for reviewers when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** How many, also beyond those that are listed. */
  waiting: number;
  /** The most urgent. */
  items: readonly WaitingItem[];
}

/** Everything that a working list says of an item. */
export const workingListTable: readonly Column<WaitingItem>[] = [
  { header: workingListColumns.item, cell: ({ mark }) => mark },
  { header: workingListColumns.sheet, cell: ({ sheetId }) => `S-${sheetId}` },
  { header: 'severity', cell: ({ severity }) => severity },
  { header: 'priority', cell: ({ priority }) => priority },
  { header: 'due', cell: ({ dueAt }) => dueAt?.toISOString() ?? null },
  ...partyColumns<WaitingItem>(({ party }) => party),
  { header: 'listed_name', cell: ({ listed }) => listed.name },
  { header: 'listed_for', cell: ({ listed }) => listed.topics.join('; ') },
  { header: 'listed_birth_dates', cell: ({ listed }) => listed.birthDates.join('; ') },
  { header: 'birth_date_compared', cell: ({ corroboration }) => agreementWords[corroboration.birthDate] },
  { header: 'listed_countries', cell: ({ listed }) => listed.countries.join('; ') },
  { header: 'country_compared', cell: ({ corroboration }) => agreementWords[corroboration.country] },
  { header: 'listed_kind', cell: ({ listed }) => listed.schema },
  { header: 'hit', cell: ({ listed }) => (listed.isHit ? 'yes' : 'no') },
  { header: 'score', cell: ({ listed }) => listed.score },
  { header: 'rank', cell: ({ listed }) => listed.rank },
  { header: 'match_id', cell: ({ listed }) => listed.id },
  { header: 'mode', cell: ({ mode }) => mode },
  { header: 'because', cell: ({ rule }) => rule },
  { header: 'open_since', cell: ({ openedAt }) => openedAt.toISOString() },
  { header: 'reopened_because', cell: ({ reopenedBecause }) => reopenedBecause.join('; ') },
  { header: 'assigned_to', cell: ({ owner }) => owner && describeOwner(owner) },
  { header: 'proposed', cell: ({ proposal }) => proposal?.verdict ?? null },
  { header: 'proposed_by', cell: ({ proposal }) => proposal?.reviewer ?? null },
  { header: 'proposed_at', cell: ({ proposal }) => proposal?.decidedAt.toISOString() ?? null },
  { header: 'proposed_reason', cell: ({ proposal }) => proposal?.reason ?? null },
  { header: 'last_decision', cell: ({ lastDecision }) => lastDecision?.verdict ?? null },
  { header: 'last_decided_by', cell: ({ lastDecision }) => lastDecision?.reviewer ?? null },
  { header: 'last_decided_at', cell: ({ lastDecision }) => lastDecision?.decidedAt.toISOString() ?? null },
  { header: 'last_reason', cell: ({ lastDecision }) => lastDecision?.reason ?? null },
  { header: 'legacy_decision', cell: ({ legacy }) => legacy?.verdict ?? null },
  { header: 'legacy_decided_by', cell: ({ legacy }) => legacy?.reviewer ?? null },
  { header: 'legacy_decided_at', cell: ({ legacy }) => legacy?.decidedAt ?? null },
  { header: 'legacy_reason', cell: ({ legacy }) => legacy?.reason ?? null },
  { header: 'legacy_sample', cell: ({ legacy }) => (legacy?.isSample === true ? 'yes' : null) },
  { header: workingListColumns.decision, cell: () => null },
  { header: workingListColumns.reason, cell: () => null },
  { header: workingListColumns.comment, cell: () => null },
  { header: 'absence', cell: ({ absence }) => absence && absenceWords[absence] },
  { header: 'absent_since', cell: ({ absentSince }) => absentSince?.toISOString() ?? null },
  { header: 'alerts', cell: ({ bulk }) => bulk?.alerts ?? null },
  { header: 'sample', cell: ({ bulk }) => bulk?.sample.join('; ') ?? null },
  { header: 'replaced_decision', cell: ({ replaced }) => replaced && describeReplaced(replaced) },
];

/** A working list as CSV: one row per item that waits, with empty columns for the decision, its reason and a comment. */
export const renderWorkingList = (items: readonly WaitingItem[]): Generator<string> =>
  renderCsv(workingListTable, items);

/** The sheet that reviewers fill in. */
export const listSheetName = 'To review';

/** The most rows of such a sheet: what people scroll through; a CSV file has no such limit. */
export const maxListRows = 10_000;

// In the order in which one reads: who, beside whom, what to fill in, then the rest. Widths in characters.
const layout: SheetLayout = [
  ['severity', 10],
  ['reference', 14, 'Customer'],
  ['name', 26],
  ['listed_name', 26, 'Listed party'],
  ['listed_for', 20],
  [workingListColumns.decision, 20],
  [workingListColumns.reason, 32],
  [workingListColumns.comment, 32],
  ['due', 21],
  ['absence', 28, 'Absent: to be confirmed as no_longer_matched'],
  ['absent_since', 21],
  ['alerts', 9, 'Alerts in this row'],
  ['sample', 32, 'Customers to look at as a sample'],
  ['birth_date', 12, 'Born'],
  ['listed_birth_dates', 18, 'Listed party born'],
  ['birth_date_compared', 20, 'Birth dates'],
  ['countries', 11],
  ['listed_countries', 16],
  ['country_compared', 18, 'Countries compared'],
  ['replaced_decision', 32, 'Decision about a like match before'],
  ['proposed', 15],
  ['proposed_by', 17],
  ['proposed_at', 21],
  ['proposed_reason', 32],
  ['reopened_because', 18, 'Re-opened because'],
  ['last_decision', 15],
  ['last_decided_by', 17],
  ['last_decided_at', 21],
  ['last_reason', 28],
  ['legacy_decision', 17, 'Decision of an older system'],
  ['legacy_decided_by', 18],
  ['legacy_decided_at', 18],
  ['legacy_reason', 28],
  ['legacy_sample', 15, 'Looked at again as a sample'],
  ['because', 22, 'Rule'],
  ['priority', 9],
  ['role', 12],
  ['type', 9],
  ['risk_tier', 10],
  ['listed_kind', 13],
  ['hit', 10, 'Flagged as hit'],
  ['score', 8],
  ['rank', 7],
  ['open_since', 21],
  ['assigned_to', 14],
  ['match_id', 24],
  ['mode', 8],
  [workingListColumns.item, 26],
  [workingListColumns.sheet, 9],
];
// Of any sheet that is filled in.
const fillInColumns: readonly string[] = [
  workingListColumns.decision,
  workingListColumns.reason,
  workingListColumns.comment,
  'accept_until',
];

// Formulas hold them in 255 characters, parted by commas. Others can be written as well.
const usualReasons = [
  'another birth date',
  'another country',
  'another name',
  'person and organisation',
  'birth date and country agree',
  'customer says so',
  'document seen',
  'too little is known',
  'no longer on the list',
  'customer record corrected',
];

/** Which columns a sheet shows, in which order, their widths in characters, and their headings where the name in words is not enough. */
export type SheetLayout = readonly (readonly [header: string, width: number, heading?: string])[];

/** The headings of a sheet; `review import` knows columns by their names in whatever case, a space for an underscore. */
export const toHeadings = (columns: SheetLayout): readonly string[] =>
  columns.map(
    ([header, , heading]) => heading ?? `${header.charAt(0).toUpperCase()}${header.slice(1).replaceAll('_', ' ')}`,
  );
/** A sheet's dropdown, by the name of its column. */
type NamedDropdown = Omit<Dropdown, 'column'> & { header: string };

const dropdowns: readonly NamedDropdown[] = [
  {
    ...{ header: workingListColumns.decision, values: dispositionVerdicts, isStrict: true },
    ...{ title: 'Decision', hint: `One of ${dispositionVerdicts.join(', ')}, or nothing.` },
  },
  {
    ...{ header: workingListColumns.reason, values: usualReasons, isStrict: false },
    ...{ title: 'Reason', hint: 'What you decide on. Choose one, or write your own.' },
  },
];

/** Items as a sheet to be filled in; `above` stands over the headers, `below` under the last item. */
export const toListSheet = (
  items: readonly WaitingItem[],
  { above = [], below = [] }: { above?: readonly SheetRow[]; below?: readonly SheetRow[] },
): Sheet =>
  toFillInSheet(items, {
    ...{ name: listSheetName, columns: workingListTable, layout, dropdowns, above, below },
    firstColumns: layout.findIndex(([header]) => header === 'name') + 1,
  });

/** Lines as a sheet: each is a row, and only columns that have no cells of their own can be written to. */
export function toFillInSheet<Line>(
  lines: readonly Line[],
  {
    name,
    columns,
    layout,
    dropdowns,
    firstColumns,
    above,
    below = [],
  }: {
    name: string;
    columns: readonly Column<Line>[];
    layout: SheetLayout;
    dropdowns: readonly NamedDropdown[];
    /** How many columns say who or what a line is about. */
    firstColumns: number;
    above: readonly SheetRow[];
    below?: readonly SheetRow[];
  },
): Sheet {
  const isFilledIn = (header: string): boolean => fillInColumns.includes(header);
  const cells = layout.map(([header]) => columns.find((column) => column.header === header)?.cell);
  function* listRows(): Generator<SheetRow> {
    yield* above;
    yield {
      cells: toHeadings(layout),
      styles: layout.map(([header]) => (isFilledIn(header) ? 'fillHeader' : 'header')),
    };
    for (const line of lines) yield { cells: cells.map((cell) => cell?.(line) ?? null) };
    yield* below;
  }
  return {
    name,
    columns: layout.map(([header, width]) => ({ width, style: isFilledIn(header) ? 'fill' : 'text' })),
    rows: listRows(),
    table: { headerRow: above.length + 1, rows: lines.length, firstColumns },
    dropdowns: dropdowns.map(({ header, ...dropdown }) => ({
      ...dropdown,
      column: layout.findIndex(([other]) => other === header),
    })),
  };
}

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
  const below = facts.waiting > shown.length ? [toWarning(toTruncationNotice(shown.length, facts))] : [];
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
function toGuideSheet(shown: number, facts: WorkbookFacts): Sheet {
  const { sheetId, exportedAt, waiting, discrepancySheet = null, importCommand } = facts;
  const title = `Working list S-${sheetId} of ${formatTime(exportedAt)}: ${countNoun(shown, 'item')} to decide`;
  return {
    name: 'How to',
    columns: [{ width: 100, style: 'plain' }],
    rows: [
      { cells: [title], styles: ['title'] },
      ...(waiting > shown ? [toWarning(toTruncationNotice(shown, facts))] : []),
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
export const toTruncationNotice = (
  shown: number,
  { waiting, wholeListCommand }: Pick<WorkbookFacts, 'waiting' | 'wholeListCommand'>,
): string =>
  `The ${formatCount(shown)} most urgent of ${countNoun(waiting, 'item')}. For all of them: ${wholeListCommand}`;
