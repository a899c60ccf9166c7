import { countNoun, formatCount } from '../format-count.js';
import { type SheetLayout, toHeadings } from '../list-sheet.js';
import type { Column } from '../render-csv.js';
import type { Sheet, SheetRow } from '../spreadsheet/sheet.js';
import { toWarning } from '../workbook-guide.js';

/**
 * The most rows of a sheet that is only read: with all sheets full the workbook stays within what `review import` takes back.
 */
export const maxTableRows = 20_000;

/** A sheet of the lines given first, at most `maxTableRows`, by the columns of these headers. */
export function toTableSheet<Line>(
  lines: readonly Line[],
  {
    name,
    columns,
    layout,
    firstColumns,
    file,
    above,
    count = lines.length,
  }: {
    name: string;
    columns: readonly Column<Line>[];
    layout: SheetLayout;
    /** How many of them say who or what a line is about. */
    firstColumns: number;
    /** What has all lines. */
    file: string;
    above: readonly SheetRow[];
    /** How many lines there are, where not all are given. */
    count?: number;
  },
): Sheet {
  const shown = lines.slice(0, maxTableRows);
  const notices =
    shown.length < count
      ? [
          toWarning(
            `The first ${formatCount(shown.length)} of ${countNoun(count, 'line')}. All of them are in ${file}.`,
          ),
        ]
      : [];
  const top = [...above, ...notices];
  return {
    name,
    columns: layout.map(([, width]) => ({ width, style: 'text' })),
    rows: listRows(shown, columns, layout, top),
    table: { headerRow: top.length + 1, rows: shown.length, firstColumns },
    dropdowns: [],
  };
}

function* listRows<Line>(
  lines: readonly Line[],
  columns: readonly Column<Line>[],
  layout: SheetLayout,
  top: readonly SheetRow[],
): Generator<SheetRow> {
  yield* top;
  yield { cells: toHeadings(layout), styles: layout.map(() => 'header') };
  const cells = layout.map(([header]) => columns.find((column) => column.header === header)?.cell);
  for (const line of lines) yield { cells: cells.map((cell) => cell?.(line) ?? null) };
}
