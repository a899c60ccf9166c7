import { readHeaderRole } from './header-words.js';

/** Tells whether the first record of a table reads like a header above the records that follow it. */
export function looksLikeHeader(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const cells = first.map((cell) => cell.trim());
  if (cells.every((cell) => cell === '')) return false;
  if (cells.some((cell) => readHeaderRole(cell) !== null)) return true;
  if (new Set(cells).size < cells.length) return false;
  // A value looks like the values below it; a header's cells are words even where these are numbers or dates.
  const isWordAboveNumbers = cells.some((cell, index) => {
    const below = others.map((fields) => fields[index]?.trim() ?? '').filter((value) => value !== '');
    return /\p{L}/u.test(cell) && !/\d/.test(cell) && below.length > 0 && below.every((value) => /\d/.test(value));
  });
  return isWordAboveNumbers && cells.every((cell) => !/^[\d.,/ -]+$/.test(cell) || cell === '');
}
