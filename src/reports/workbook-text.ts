import { toVisibleText } from './visible-text.js';

// What a cell of a workbook can hold, less what is put in the place of signs that cannot be seen.
const maxTextLength = 32_000;

/** A cell of a workbook: moments of ours to the minute, signs that cannot be seen but could mislead by their numbers. */
export function toWorkbookText<Value extends string | number | null>(cell: Value): Value | string {
  if (typeof cell !== 'string') return cell;
  // Two signs that XML has no place for, and the half of a pair that cutting leaves.
  const text = toMinute(cell)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[^\n\t]+/g, toVisibleText);
  const shown =
    text.length > maxTextLength ? `${text.slice(0, maxTextLength).replace(/[\ud800-\udbff]$/, '')} ...` : text;
  // The format's own way to write a sign by its number must not be read into a name.
  return shown.replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_');
}

/** A moment of ours to the minute; other text as it is. */
const toMinute = (text: string): string => text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/, '$1 $2 UTC');

/** The font of all cells. */
export const workbookFont = { name: 'Calibri', size: 11 };

const linePoints = 15;
const maxLines = 8;
const wide = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** The height, in points, that shows the wrapped text of a row in columns of these widths; not every program finds it by itself. */
export function toRowHeight(cells: readonly (string | number | null)[], widths: readonly number[]): number {
  const lines = cells.map((cell, index) => countLines(String(cell ?? ''), widths[index] ?? 1));
  return linePoints * Math.min(maxLines, Math.max(1, ...lines));
}

const countLines = (text: string, width: number): number =>
  text.split('\n').reduce((sum, line) => {
    const { length } = line.replace(wide, 'MM');
    // Words do not break, so that of several lines each holds less than its width.
    return sum + (length < width ? 1 : Math.ceil((length * 1.15) / width));
  }, 0);
