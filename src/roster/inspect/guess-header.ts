import { readHeader } from './read-header.js';

/** Tells whether the first record of a table reads like a header above the records that follow it. */
export function looksLikeHeader(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const cells = first.map((cell) => cell.trim());
  if (cells.every((cell) => cell === '')) return false;
  const below = cells.map((_, index) =>
    others
      .slice(0, comparedRows)
      .map((fields) => fields[index]?.trim() ?? '')
      .filter((value) => value !== ''),
  );
  // What a column says again below is a value of it, such as the status "active".
  if (cells.some((cell, index) => readHeader(cell) !== null && below[index]?.includes(cell) === false)) return true;
  if (new Set(cells).size < cells.length) return false;
  // A value looks like the values below it; a header's cells are words even where these are numbers or dates.
  const isWordAboveNumbers = cells.some((cell, index) => {
    const values = below[index] ?? [];
    return /\p{L}/u.test(cell) && !/\d/.test(cell) && values.length > 0 && values.every((value) => /\d/.test(value));
  });
  return isWordAboveNumbers && cells.every((cell) => !/^[\d.,/ -]+$/.test(cell) || cell === '');
}

const comparedRows = 1_000;
