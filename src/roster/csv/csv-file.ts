import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';
import type { CsvSource } from './csv-source.js';
import { takeDelimiterHint, withHint } from './delimiter-hint.js';
import { type CsvDialect, findDialect } from './find-dialect.js';
import { type LineBlock, sliceBlock } from './line-block.js';
import { type LineBlocks, readLineBlocks } from './line-blocks.js';
import { createRecordSplitter, isBlank, type SplitRecords } from './record-splitter.js';
import { refuseJson } from './refuse-other-formats.js';
import { createSoundnessGuard } from './soundness-guard.js';
import { readSourceBytes } from './source-bytes.js';

/** One file of a table, opened behind its header. */
export interface CsvFile extends CsvDialect {
  /** The records of each block of lines. */
  records: AsyncGenerator<readonly TableRecord[], void, undefined>;
  /** Gives up what has not been read; harmless at any time. */
  close(): Promise<void>;
}

/** What a table knows of its file. */
export interface FilePlace {
  path: string;
  /** How messages call it. */
  name: string;
  /** The file of its records, where the roster has several. */
  file: string | null;
  tally: LineTally;
  onBytes(bytes: Buffer): void;
}

/**
 * Opens a file and reads its header; throws RosterError when it cannot be read, holds nothing, or is not written as declared.
 */
export async function openCsvFile(
  place: FilePlace,
  source: CsvSource,
  isMapped: (header: string) => boolean,
): Promise<CsvFile> {
  const { name, file, tally } = place;
  const blocks = readLineBlocks(
    readSourceBytes(place.path, (bytes) => place.onBytes(bytes)),
    source.encoding,
    name,
  );
  try {
    const { first, hinted } = await findFirstRecord(blocks, place);
    const dialect = findTableDialect(first, withHint(source, hinted), isMapped, name);
    tally.lines += dialect.headerLines;
    tally.headers += dialect.headerLines;
    const shape = { delimiter: dialect.delimiter, columnCount: dialect.headers.length };
    const records = splitBlocks(
      sliceBlock(first, dialect.headerLines),
      blocks,
      markCut(createRecordSplitter({ ...shape, path: name, file }, tally), shape.columnCount),
    );
    return {
      ...dialect,
      records,
      close: async () => {
        await records.return();
        // What was given up before its first record has not handed the file on to anybody who closes it.
        await blocks.return();
      },
    };
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

/** A header that the mapping asks for is one, whatever it looks like; else what begins like JSON is called so. */
function findTableDialect(...[first, source, isMapped, name]: Parameters<typeof findDialect>): CsvDialect {
  try {
    const dialect = findDialect(first, source, isMapped, name);
    if (!source.header || !dialect.headers.some(isMapped)) refuseJson(first.texts[0] ?? '', name);
    return dialect;
  } catch (error) {
    // Its quotes make no sense as CSV, which would lead astray.
    refuseJson(first.texts[0] ?? '', name);
    throw error;
  }
}

/** Gives the first block that holds more than blank lines, from its first such line on; a line before it that names the delimiter is counted with the header. */
async function findFirstRecord(
  blocks: LineBlocks,
  { name, tally }: FilePlace,
): Promise<{ first: LineBlock; hinted: string | undefined }> {
  const guard = createSoundnessGuard(name, 1);
  let hinted: string | undefined;
  for (;;) {
    const block = await blocks.next();
    if (block.done) {
      throw new RosterError('roster_empty', `${name} is empty. Nothing was changed; check the export that writes it.`);
    }
    const hint = takeDelimiterHint(block.value);
    if (hint !== null) {
      hinted = hint.delimiter;
      tally.lines += 1;
      tally.headers += 1;
    }
    const { rest } = hint ?? { rest: block.value };
    const found = rest.texts.findIndex((text) => !isBlank(text));
    const blanks = found < 0 ? rest.texts.length : found;
    for (let at = 0; at < blanks; at += 1) guard.noteUnsound(1, rest.firstLine + at);
    tally.lines += blanks;
    tally.blanks += blanks;
    if (found >= 0) return { first: sliceBlock(rest, found), hinted };
  }
}

/** A file that ends within a line, and a line that ends within a row, was cut off where it was written or copied. */
function markCut(split: SplitRecords, columnCount: number): SplitRecords {
  return (block) => {
    const records = split(block);
    const last = records.at(-1);
    if (!block.isOpen || last === undefined || last.fault === null) return records;
    const isShort = last.fields.length > 1 && last.fields.length < columnCount;
    return isShort ? [...records.slice(0, -1), { ...last, isCut: true }] : records;
  };
}

async function* splitBlocks(
  first: LineBlock,
  blocks: LineBlocks,
  split: SplitRecords,
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  try {
    yield split(first);
    for await (const block of blocks) yield split(block);
  } finally {
    await blocks.return();
  }
}
