import type { CsvSource } from './csv-source.js';
import { type LineBlock, sliceBlock } from './line-block.js';

// No letter, digit, space or quote, as in the configuration; some programs fill the line up with empty fields.
const hint = /^"?sep=([^"\p{L}\p{N}\p{Cs} ])"?\1*$/iu;

/** The first line of a file that tells spreadsheets its delimiter (`sep=;`), taken off; null where there is none. */
export function takeDelimiterHint(block: LineBlock): { delimiter: string; rest: LineBlock } | null {
  if (block.firstLine !== 1) return null;
  const delimiter = hint.exec(block.texts[0] ?? '')?.[1];
  return delimiter === undefined ? null : { delimiter, rest: sliceBlock(block, 1) };
}

/** What a source says of the delimiter counts; else what the file says. */
export function withHint(source: CsvSource, delimiter: string | undefined): CsvSource {
  return delimiter === undefined || source.delimiter !== 'auto' ? source : { ...source, delimiter };
}
