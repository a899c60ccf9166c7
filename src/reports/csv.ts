import { stringify } from 'csv-stringify/sync';
import type { Cell, Column } from './section.js';
import { toVisibleLines } from './text.js';

// Larger chunks leave the young generation and cost a third more memory and twice the time.
const linesPerChunk = 100;
const byteOrderMark = '\ufeff';

/** The CSV file (RFC 4180, UTF-8 with byte order mark) in chunks; always with a header. */
export function* renderCsv<Line>(
  columns: readonly Column<Line>[],
  lines: readonly Line[],
  timezone = 'UTC',
): Generator<string> {
  yield renderHeader(columns);
  yield* renderLines(columns, lines, timezone);
}

/** The same of lines that come in batches. */
export async function* renderCsvBatches<Line>(
  columns: readonly Column<Line>[],
  batches: AsyncIterable<readonly Line[]>,
  timezone = 'UTC',
): AsyncGenerator<string> {
  yield renderHeader(columns);
  for await (const lines of batches) yield* renderLines(columns, lines, timezone);
}

const ofFile = <Line>(columns: readonly Column<Line>[]) => columns.filter(({ key }) => key !== undefined);

const renderHeader = <Line>(columns: readonly Column<Line>[]): string =>
  byteOrderMark + toCsv([ofFile(columns).map(({ key = '' }) => key)]);

function* renderLines<Line>(
  columns: readonly Column<Line>[],
  lines: readonly Line[],
  timezone: string,
): Generator<string> {
  const cells = ofFile(columns).map(({ cell }) => cell);
  for (let start = 0; start < lines.length; start += linesPerChunk) {
    const chunk = lines.slice(start, start + linesPerChunk);
    yield toCsv(chunk.map((line) => cells.map((cell) => cell?.(line, timezone) ?? null)));
  }
}

function toCsv(rows: readonly (readonly Cell[])[]): string {
  const harmless = rows.map((row) => row.map(toHarmless));
  return stringify(harmless, { record_delimiter: 'windows', quoted_match: [/[\r\n;\t]/] });
}

function toHarmless(cell: Cell): string | number | null {
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === 'string' ? neutraliseFormula(toVisibleLines(cell)) : cell;
}

// Spreadsheets skip white space, control and format characters before they look for a formula.
const ignorable = '[\\s\\p{C}]*';

// ASCII, full-width and small forms, and the true minus sign.
const starters = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]';

const atStart = new RegExp(`^${ignorable}${starters}`, 'u');

// A spreadsheet with another delimiter setting splits cells here, also inside quotes.
const breaks = '[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]';

// It looks back from a sign only: from each character, the time would grow with the square of the text.
const afterBreak = new RegExp(`${starters}(?<=${breaks}${ignorable}${starters})`, 'gu');

// The same places, with or without apostrophes of the text before the sign.
const markedStart = new RegExp(`^(?='*${ignorable}${starters})`, 'u');

const markedBreak = new RegExp(`(?<!')'*${starters}(?<=${breaks}${ignorable}'*${starters})`, 'gu');

/**
 * The text with an apostrophe before each place where a spreadsheet could start a formula: at the start, and after a line break, tab,
 * semicolon or bar.
 */
export function neutraliseFormula(text: string): string {
  const inside = text.replace(afterBreak, "'$&");
  return atStart.test(text) ? `'${inside}` : inside;
}

/** The same, reversible: removing one apostrophe at each such place restores the text. */
export function markFormula(text: string): string {
  const inside = text.replace(markedBreak, "'$&");
  return markedStart.test(text) ? `'${inside}` : inside;
}
