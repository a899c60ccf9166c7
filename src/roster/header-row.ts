import { readHeader } from './headers.js';

/** A header is looked for in so many lines. */
const mostLinesAbove = 20;
/** So many rows below a possible header are compared with it. */
const mostRowsBelow = 200;
/** The most rows in which a header below a title is looked for. */
export const mostHeaderRows = mostLinesAbove + mostRowsBelow;

/** A row with its trimmed cells. */
export interface ReadRow {
  line: number;
  cells: readonly string[];
}

/** Finds the header of a table below a title: below a row that is no header, above rows of one width. */
export const findHeaderBelow = (rows: readonly ReadRow[]): ReadRow | undefined =>
  rows.find((row, at) => at > 0 && isHeaderBelow(rows.slice(0, at), row, rows.slice(at + 1)));

function isHeaderBelow(above: readonly ReadRow[], { line, cells }: ReadRow, below: readonly ReadRow[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  const [first] = above;
  if (filled.length < 2 || filled.length < cells.length * 0.8 || new Set(filled).size < filled.length) return false;
  if (first === undefined || line > first.line + mostLinesAbove) return false;
  const rows = below.slice(0, mostRowsBelow);
  const alike = rows.filter((row) => row.cells.length === cells.length || isLonger(row, cells.length));
  if (alike.length < rows.length * 0.8 || alike.length === 0) return false;
  const most = Math.max(...above.map((row) => row.cells.filter((cell) => cell !== '').length));
  const roles = cells.filter((cell) => readHeader(cell).role !== null).length;
  const isTitle = most === 1 || (most <= filled.length / 2 && roles >= 2);
  return (
    isTitle &&
    looksLikeHeader(
      cells,
      rows.map((row) => row.cells),
    )
  );
}

/** Whether a row ends with one more delimiter. */
const isLonger = ({ cells }: ReadRow, columns: number): boolean => cells.length === columns + 1 && cells.at(-1) === '';

/** Whether the first record of a table looks like a header of the records after it. */
export function looksLikeHeader(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const cells = first.map((cell) => cell.trim());
  if (cells.every((cell) => cell === '')) return false;
  const below = cells.map((_, index) =>
    others
      .slice(0, comparedRows)
      .map((fields) => fields[index]?.trim() ?? '')
      .filter((value) => value !== ''),
  );
  // A text that the column repeats below is a value, such as the status "active".
  if (cells.some((cell, index) => readHeader(cell).role !== null && below[index]?.includes(cell) === false))
    return true;
  if (new Set(cells).size < cells.length) return false;
  // A value looks like the values below it; a header has words even above numbers or dates.
  const isWordAboveNumbers = cells.some((cell, index) => {
    const values = below[index] ?? [];
    return /\p{L}/u.test(cell) && !/\d/.test(cell) && values.length > 0 && values.every((value) => /\d/.test(value));
  });
  return isWordAboveNumbers && cells.every((cell) => !/^[\d.,/ -]+$/.test(cell) || cell === '');
}

const comparedRows = 1_000;
