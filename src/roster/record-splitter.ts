import type { PhysicalLine } from './physical-lines.js';
import { scanQuotes } from './scan-quotes.js';

/** One or more physical lines that are one record, or a single line whose quotes make no record. */
export interface CsvRecord {
  /** Physical line on which it begins. */
  line: number;
  text: string;
  isMalformed: boolean;
}

/** How a CSV is written, and how many columns its header has. */
export interface RecordShape {
  delimiter: string;
  columnCount: number;
}

/** The most physical lines of one record, and its most UTF-16 units. */
const maxRecordLines = 100;
export const maxRecordLength = 1024 * 1024;

/** Turns physical lines into records as they come; `isLast` says that no more lines follow. */
export type SplitRecords = (lines: readonly PhysicalLine[], isLast: boolean) => CsvRecord[];

/**
 * Makes the function that joins physical lines into records, leaving out blank ones.
 * When a quote left open leads nowhere valid, only the line it stands on is malformed and reading goes on with the next one,
 * so no line that reads as a whole row is ever swallowed by its neighbour.
 */
export function createRecordSplitter(shape: RecordShape): SplitRecords {
  let waiting: readonly PhysicalLine[] = [];
  return (lines, isLast) => {
    const queue = waiting.length === 0 ? lines : [...waiting, ...lines];
    const records: CsvRecord[] = [];
    let at = 0;
    while (at < queue.length) {
      const first = queue[at];
      if (first === undefined) break;
      if (isBlank(first.text)) {
        at += 1;
        continue;
      }
      if (!first.text.includes('"')) {
        records.push({ line: first.number, text: first.text, isMalformed: false });
        at += 1;
        continue;
      }
      const lineCount = countRecordLines(queue, at, isLast, shape);
      if (lineCount === 'unknown') break;
      const taken = queue.slice(at, at + Math.max(lineCount, 1));
      records.push({ line: first.number, text: joinLines(taken), isMalformed: lineCount === 0 });
      at += taken.length;
    }
    waiting = queue.slice(at);
    return records;
  };
}

/** Gives 0 when the first line is malformed, `unknown` when lines that have not come yet decide. */
function countRecordLines(
  queue: readonly PhysicalLine[],
  from: number,
  isLast: boolean,
  shape: RecordShape,
): number | 'unknown' {
  const first = queue[from]?.text ?? '';
  let scan = scanQuotes(first, shape.delimiter, null);
  if (scan.state !== 'open') return scan.state === 'closed' ? 1 : 0;
  const isFirstWhole = isWholeLiterally(first.slice(scan.openedAt), shape, scan.fieldCount);
  let length = first.length;
  for (let count = 1; count < maxRecordLines; count += 1) {
    const next = queue[from + count];
    if (next === undefined) return isLast ? 0 : 'unknown';
    length += next.text.length;
    if (length > maxRecordLength) return 0;
    scan = scanQuotes(next.text, shape.delimiter, scan);
    if (scan.state === 'malformed') return 0;
    const isOpen = scan.state === 'open';
    if ((isOpen || isFirstWhole) && isWholeRow(next.text, shape)) return 0;
    if (!isOpen) return scan.fieldCount === shape.columnCount ? count + 1 : 0;
  }
  return 0;
}

function isWholeRow(text: string, shape: RecordShape): boolean {
  if (isWholeLiterally(text, shape, 1)) return true;
  const scan = scanQuotes(text, shape.delimiter, null);
  return scan.state === 'closed' && scan.fieldCount === shape.columnCount;
}

/** Tells whether a line would be a whole row if quotes meant nothing; a doubled quote may hide that some delimiters are text. */
function isWholeLiterally(text: string, shape: RecordShape, fieldsBefore: number): boolean {
  const count = fieldsBefore + text.split(shape.delimiter).length - 1;
  return count === shape.columnCount || (count > shape.columnCount && text.includes('""'));
}

function joinLines(lines: readonly PhysicalLine[]): string {
  return lines.map((line, index) => (index === lines.length - 1 ? line.text : line.text + line.ending)).join('');
}

function isBlank(text: string): boolean {
  return text === '' || /^ +$/.test(text);
}
