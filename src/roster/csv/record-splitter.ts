import { RosterError } from '../../errors.js';
import type { LineTally, TableRecord } from '../table-reading.js';
import { dropPadding, measureRecord, parseRecords, type RecordShape } from './quoted-record.js';

/** Turns the blocks of a file, in order, into its records. */
export type SplitRecords = (block: LineBlock) => TableRecord[];

/** How a file is written, and how messages and records call it. */
interface SplitSettings extends RecordShape {
  /** Whether a record has one delimiter more at its end. */
  endsWithDelimiter: boolean;
  path: string;
  /** The file of the records, where the roster has several. */
  file: string | null;
}

/** A record with quotes, to be parsed together with others. */
interface QuotedRecord {
  record: TableRecord;
  /** Without padding, unlike `original`. */
  text: string;
  original: string;
}

/**
 * Makes the function that takes lines apart into records, leaving out blank ones and adding to `tally` what they are.
 * When a quote left open leads nowhere valid, only the line it stands on is malformed and reading goes on with the next one,
 * so no line that reads as a whole row is ever swallowed by its neighbour. Throws RosterError `not_a_table` when no sound records come.
 */
export function createRecordSplitter(settings: SplitSettings, tally: LineTally): SplitRecords {
  const { delimiter, file } = settings;
  const columnCount = settings.columnCount + Number(settings.endsWithDelimiter);
  const shape: RecordShape = { delimiter, columnCount };
  const guard = createSoundnessGuard(settings.path, settings.columnCount);
  let waiting: LineBlock | null = null;
  let lastSound: string | null = null;

  const note = (isSound: boolean, text: string, line: number) => {
    tally.records += 1;
    if (isSound) {
      guard.noteSound();
      lastSound = text;
    } else guard.noteUnsound(text.length, line);
  };
  const takePlain = (text: string, line: number, records: TableRecord[]) => {
    if (isBlank(text)) {
      tally.blanks += 1;
      guard.noteUnsound(1, line);
      return;
    }
    const fields = text.split(delimiter);
    const isSound = fields.length === columnCount;
    note(isSound, text, line);
    records.push({ line, file, fields, fault: isSound ? null : 'wrong_column_count' });
  };
  const takeMixed = (block: LineBlock, records: TableRecord[]) => {
    const quoted: QuotedRecord[] = [];
    for (let at = 0; at < block.texts.length; ) {
      const first = block.texts[at] ?? '';
      const line = block.firstLine + at;
      if (!first.includes('"')) {
        takePlain(first, line, records);
        at += 1;
        continue;
      }
      const { lineCount, fieldCount, isPadded } = measureRecord(block.texts, at, block.isLast, shape, lastSound);
      if (lineCount === null) {
        waiting = sliceBlock(block, at);
        break;
      }
      if (lineCount === 0) {
        note(false, first, line);
        records.push({ line, file, fields: first.split(delimiter), fault: 'malformed_csv' });
        at += 1;
        continue;
      }
      const original = joinLines(block, at, lineCount);
      const isSound = fieldCount === columnCount;
      note(isSound, original, line);
      tally.continuations += lineCount - 1;
      const record: TableRecord = { line, file, fields: [], fault: isSound ? null : 'wrong_column_count' };
      records.push(record);
      quoted.push({ record, text: isPadded ? dropPadding(original, delimiter) : original, original });
      at += lineCount;
    }
    parseQuoted(quoted, delimiter);
  };

  return (block) => {
    tally.lines += block.texts.length;
    const whole = waiting === null ? block : joinBlocks(waiting, block);
    waiting = null;
    const records: TableRecord[] = [];
    if (whole.hasQuote) takeMixed(whole, records);
    else {
      for (let at = 0; at < whole.texts.length; at += 1) {
        takePlain(whole.texts[at] ?? '', whole.firstLine + at, records);
      }
    }
    if (settings.endsWithDelimiter) for (const record of records) dropLastField(record, columnCount);
    return records;
  };
}

/** Takes off the empty field behind the last delimiter; a record that has neither is whole as well, unless its own last field is empty. */
function dropLastField(record: TableRecord, columnCount: number): void {
  const { fields, fault } = record;
  const isLastEmpty = fields.at(-1)?.trim() === '';
  if (fault === null && isLastEmpty) record.fields = fields.slice(0, -1);
  else if (fault === null) record.fault = 'wrong_column_count';
  else if (fault === 'wrong_column_count' && fields.length === columnCount - 1 && !isLastEmpty) record.fault = null;
}

/** What csv-parse does not read although its quotes make sense is malformed too. */
function parseQuoted(quoted: readonly QuotedRecord[], delimiter: string): void {
  const texts = quoted.map(({ text }) => text);
  for (const [index, fields] of parseRecords(texts, delimiter).entries()) {
    const each = quoted[index];
    if (each === undefined) continue;
    each.record.fields = fields ?? each.original.split(delimiter);
    if (fields === null) each.record.fault = 'malformed_csv';
  }
}

/** Tells whether a line holds nothing but spaces. */
export function isBlank(text: string): boolean {
  return text === '' || (text.charCodeAt(0) === 0x20 && /^ +$/.test(text));
}

/** Consecutive physical lines of a file, without their endings. */
export interface LineBlock {
  /** The number of the first of them in the file, from 1. */
  firstLine: number;
  texts: readonly string[];
  /** How each of them ends (`\n`, `\r\n`, `\r`), or one ending where all have the same. */
  endings: string | readonly string[];
  /** False where no line has a quote, so that delimiters alone decide. */
  hasQuote: boolean;
  /** Whether nothing follows in the file. */
  isLast: boolean;
  /** Whether it is the last, and its last line has no ending. */
  isOpen: boolean;
}

/** Gives lines of a block as they lie, without the ending of the last. */
export function joinLines(block: LineBlock, from: number, count: number): string {
  let text = block.texts[from] ?? '';
  for (let at = from + 1; at < from + count; at += 1) text += endingAt(block, at - 1) + (block.texts[at] ?? '');
  return text;
}

/** Gives the lines of a block from one of them on. */
export function sliceBlock(block: LineBlock, from: number, to = block.texts.length): LineBlock {
  const { texts, endings } = block;
  return {
    ...block,
    firstLine: block.firstLine + from,
    texts: texts.slice(from, to),
    endings: typeof endings === 'string' ? endings : endings.slice(from, to),
  };
}

/** Makes one block of two that follow each other. */
function joinBlocks(one: LineBlock, other: LineBlock): LineBlock {
  const isUniform = typeof one.endings === 'string' && one.endings === other.endings;
  return {
    firstLine: one.firstLine,
    texts: [...one.texts, ...other.texts],
    endings: isUniform ? one.endings : [...listEndings(one), ...listEndings(other)],
    hasQuote: one.hasQuote || other.hasQuote,
    isLast: other.isLast,
    isOpen: other.isOpen,
  };
}

function listEndings(block: LineBlock): readonly string[] {
  return block.texts.map((_, at) => endingAt(block, at));
}

function endingAt({ endings }: LineBlock, at: number): string {
  return typeof endings === 'string' ? endings : (endings[at] ?? '');
}

/** After so many lines, or so many UTF-16 units, without one sound record a file is not the table that its header says. */
const maxUnsoundLines = 200_000;
const maxUnsoundLength = 64 * 1024 * 1024;

/** Watches that sound records keep coming. */
interface SoundnessGuard {
  noteSound(): void;
  /** Throws RosterError `not_a_table` when too much has gone by without a sound record. */
  noteUnsound(length: number, line: number): void;
}

/** Makes the guard of one file, which ends the reading of what only begins like a table. */
export function createSoundnessGuard(path: string, columnCount: number): SoundnessGuard {
  let lines = 0;
  let length = 0;
  return {
    noteSound: () => {
      lines = 0;
      length = 0;
    },
    noteUnsound: (added, line) => {
      lines += 1;
      length += added;
      if (lines <= maxUnsoundLines && length <= maxUnsoundLength) return;
      throw new RosterError(
        'not_a_table',
        `${path}: none of the last ${lines} lines up to line ${line} is a row of ${columnCount} columns. ` +
          'Check which file it is, its delimiter and its quotes.',
      );
    },
  };
}
