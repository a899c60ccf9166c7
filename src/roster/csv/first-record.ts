import { RosterError } from '../../errors.js';
import { findHeaderBelow, mostHeaderRows, type ReadRow } from '../header-row.js';
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

/** The most lines of one row here; a longer one is read line by line. */
const mostLinesOfRow = 10;

/** Finds the header of a table below a title: below a row that is no header, above rows of one width. */
export function findLowerHeader(block: LineBlock, delimiter: string): { line: number; delimiter: string } | null {
  const [best] = (delimiter === 'auto' ? candidates : [delimiter])
    .flatMap((each) => {
      const rows = listRows(block, each);
      const found = findHeaderBelow(rows);
      return found === undefined ? [] : [{ line: found.line, delimiter: each, columns: found.cells.length }];
    })
    .toSorted((one, other) => other.columns - one.columns);
  return best === undefined ? null : { line: best.line, delimiter: best.delimiter };
}

function listRows(block: LineBlock, delimiter: string): readonly ReadRow[] {
  const rows: ReadRow[] = [];
  for (let at = 0; at < block.texts.length && rows.length < mostHeaderRows; ) {
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
