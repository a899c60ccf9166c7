import { RosterError } from '../../errors.js';
import { readHeader } from '../headers.js';
import type { CsvSettings } from '../settings.js';
import type { LineTally } from '../table-reading.js';
import { isBlank, type LineBlock, readFirstRecord, SoundnessGuard, sliceBlock } from './record-splitter.js';

/** The delimiters that `auto` tries. */
export const candidates = [',', ';', '\t', '|'];

/**
 * Gives the blocks from the first line with a value on, at the earliest from the line of the header. The lines above
 * it, and a line that names the delimiter, count as header lines.
 */
export async function findFirstRecord(
  blocks: AsyncGenerator<LineBlock, void, undefined>,
  { header, delimiter }: Pick<CsvSettings, 'header' | 'delimiter'>,
  name: string,
  tally: LineTally,
): Promise<{ first: LineBlock; hinted: string | undefined }> {
  const guard = new SoundnessGuard(name, 1);
  const headerLine = typeof header === 'number' ? header : 1;
  const delimiters = delimiter === 'auto' ? candidates.join('') : delimiter;
  let hinted: string | undefined;
  for (;;) {
    const block = await blocks.next();
    if (block.done) {
      const what = headerLine > 1 ? `has nothing from line ${headerLine} on, the header by its settings` : 'is empty';
      throw new RosterError('roster_empty', `${name} ${what}. Nothing was changed; check the export that writes it.`);
    }
    const hint = takeDelimiterHint(block.value);
    if (hint !== null) {
      hinted = hint.delimiter;
      tally.lines += 1;
      tally.headers += 1;
    }
    const { rest: all } = hint ?? { rest: block.value };
    const above = Math.min(Math.max(0, headerLine - all.firstLine), all.texts.length);
    tally.lines += above;
    tally.headers += above;
    const rest = sliceBlock(all, above);
    const found = rest.texts.findIndex((text) => !isBlank(text, delimiters));
    const blanks = found < 0 ? rest.texts.length : found;
    for (let at = 0; at < blanks; at += 1) guard.noteUnsound(1, rest.firstLine + at);
    tally.lines += blanks;
    tally.blanks += blanks;
    if (found >= 0) return { first: sliceBlock(rest, found), hinted };
  }
}

// The same characters as in the configuration. Some programs pad the line with empty fields.
const hint = /^"?sep=([^"\p{L}\p{N}\p{Cs} ])"?\1*$/iu;

/** Removes a first line `sep=;`, which sets the delimiter for spreadsheets; null when there is none. */
function takeDelimiterHint(block: LineBlock): { delimiter: string; rest: LineBlock } | null {
  if (block.firstLine !== 1) return null;
  const delimiter = hint.exec(block.texts[0] ?? '')?.[1];
  return delimiter === undefined ? null : { delimiter, rest: sliceBlock(block, 1) };
}

/** A header is looked for in so many lines. */
const mostLinesAbove = 20;
/** So many rows below a possible header are compared with it. */
const mostRowsBelow = 200;
/** The most lines of one row here; a longer one is read line by line. */
const mostLinesOfRow = 10;

interface ReadRow {
  line: number;
  cells: readonly string[];
}

/** Finds the header of a table below a title: below a row that is no header, above rows of one width. */
export function findLowerHeader(block: LineBlock, delimiter: string): { line: number; delimiter: string } | null {
  const [best] = (delimiter === 'auto' ? candidates : [delimiter])
    .flatMap((each) => {
      const rows = listRows(block, each);
      const found = rows.find((row, at) => at > 0 && isHeaderBelow(rows.slice(0, at), row, rows.slice(at + 1)));
      return found === undefined ? [] : [{ line: found.line, delimiter: each, columns: found.cells.length }];
    })
    .toSorted((one, other) => other.columns - one.columns);
  return best === undefined ? null : { line: best.line, delimiter: best.delimiter };
}

function listRows(block: LineBlock, delimiter: string): readonly ReadRow[] {
  const rows: ReadRow[] = [];
  for (let at = 0; at < block.texts.length && rows.length < mostLinesAbove + mostRowsBelow; ) {
    const text = block.texts[at] ?? '';
    const read = isBlank(text, delimiter)
      ? null
      : readFirstRecord(sliceBlock(block, at, at + mostLinesOfRow), delimiter);
    const cells = (read?.fields ?? text.split(delimiter)).map((cell) => cell.trim());
    if (!isBlank(text, delimiter)) rows.push({ line: block.firstLine + at, cells });
    at += read?.lineCount ?? 1;
  }
  return rows;
}

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
