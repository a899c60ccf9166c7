import { dispositionVerdicts } from '../matches/review/disposition.js';
import type { Column } from './render-csv.js';
import type { Dropdown, Sheet, SheetRow } from './spreadsheet/sheet.js';
import { type WaitingItem, workingListColumns, workingListTable } from './working-list.js';

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
