import type { StyleName } from './styles.js';

/** A cell: text is never taken for a formula, numbers stay numbers, null is empty. */
export type SheetCell = string | number | null;

/** A row; its cells look as their columns do unless `styles` says otherwise. */
export interface SheetRow {
  cells: readonly SheetCell[];
  styles?: readonly StyleName[];
  /** The only cell reaches over all columns, above a table over its first ones. */
  isAcross?: true;
}

/** A column; `width` in characters. */
export interface SheetColumn {
  width: number;
  style: StyleName;
}

/** What can be chosen in a column; nothing else can be written there if `isStrict`. */
export interface Dropdown {
  /** From 0. */
  column: number;
  values: readonly string[];
  isStrict: boolean;
  title: string;
  hint: string;
}

/** What of a sheet is a table; its headers and first columns stay in sight, and stand on every printed page. */
export interface Table {
  /** From 1. */
  headerRow: number;
  /** How many rows are below the headers. */
  rows: number;
  firstColumns: number;
}

/** A sheet of a workbook; only cells whose style is `fill` can be typed into. Its table can be sorted and filtered. */
export interface Sheet {
  name: string;
  columns: readonly SheetColumn[];
  /** From the top; read once, while the file is written. */
  rows: Iterable<SheetRow>;
  /** Null for a sheet that is read as text. */
  table: Table | null;
  dropdowns: readonly Dropdown[];
}

/** A workbook; `title` and `warning` stand on every printed page. */
export interface Workbook {
  title: string;
  createdAt: Date;
  warning: string | null;
  sheets: readonly Sheet[];
}
