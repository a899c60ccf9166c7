import type { html } from 'hono/html';

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** A value of a list: text that each format makes harmless, a figure, an instant, or nothing. */
export type Cell = string | number | Date | null;

/** The name of a fact, its value and a note. */
export type Fact = readonly [name: string, value: Cell, note?: string | null];

/** Facts of the report under one title. */
export interface FactBlock {
  title: string;
  facts: readonly Fact[];
}

/** A column of a list in every format that shows it. */
export interface Column<Line> {
  /** The heading in CSV files, by which lists are read back; a column without it is on the page only. */
  key?: string;
  /** The heading for people; default: the key in words. */
  title?: string;
  /** The width in a workbook in characters; a column without it is in no workbook. */
  width?: number;
  /** The width on the page in percent of the table; default: an equal part of the rest. */
  share?: number;
  /** Figures, on the right of their cells on the page. */
  numeric?: true;
  /** Reviewers fill it in. */
  fillIn?: true;
  /** Nothing in a column that is on the page only or filled in. */
  cell?: (line: Line, timezone: string) => Cell | undefined;
  /** The cell on the page, where a column of files is there too or needs more than its text. */
  html?: (line: Line, timezone: string) => Markup | string;
}

/** A list of the report, laid out once for the workbook and the CSV file. */
export interface ListSection<Line> {
  /** The name of its sheet and the heading of its section on the page. */
  title: string;
  columns: readonly Column<Line>[];
  /** All lines, or the first ones of `count`. */
  lines: readonly Line[];
  count: number;
  /** The file with all lines. */
  file: string;
}

/** A list that the page shows as a table too. */
export interface Section<Line> extends ListSection<Line> {
  /** Its anchor. */
  id: string;
  /** The heading of the table. */
  caption: string;
  /** The sentence in place of an empty table. */
  quiet: string;
}

/** The heading of a column for people. `review import` finds columns by these names in any case, with spaces for underscores. */
export function toHeading<Line>({ title, key = '' }: Column<Line>): string {
  return title ?? `${key.charAt(0).toUpperCase()}${key.slice(1).replaceAll('_', ' ')}`;
}
