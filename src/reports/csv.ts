import { stringify } from 'csv-stringify/sync';
import { neutraliseFormula } from '../formulas.js';
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
  const shown = columns.filter(({ key }) => key !== undefined);
  yield byteOrderMark + toCsv([shown.map(({ key = '' }) => key)]);
  yield* renderLines(shown, lines, timezone);
}

/** The same of lines that come in batches. */
export async function* renderCsvBatches<Line>(
  columns: readonly Column<Line>[],
  batches: AsyncIterable<readonly Line[]>,
  timezone = 'UTC',
): AsyncGenerator<string> {
  const shown = columns.filter(({ key }) => key !== undefined);
  yield* renderCsv(shown, [], timezone);
  for await (const lines of batches) yield* renderLines(shown, lines, timezone);
}

function* renderLines<Line>(
  columns: readonly Column<Line>[],
  lines: readonly Line[],
  timezone: string,
): Generator<string> {
  for (let start = 0; start < lines.length; start += linesPerChunk) {
    const chunk = lines.slice(start, start + linesPerChunk);
    yield toCsv(chunk.map((line) => columns.map(({ cell }) => cell?.(line, timezone) ?? null)));
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
