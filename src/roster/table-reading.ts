import type { RejectReason } from '../vocabulary.js';

/** One record of a table: its fields in the order of the headers, or its fault. */
export interface TableRecord {
  /** Physical line on which it begins, from 1, header included; for a query, the ordinal of the row. */
  line: number;
  /** Its file when a roster has several; null otherwise. */
  file: string | null;
  /** The unchanged texts; in a record with a fault, the texts between the delimiters. */
  fields: readonly string[];
  /** Null for a valid record. */
  fault: RejectReason | null;
  /** Whether the file ends within it. */
  isCut?: boolean;
  /** Whether the file ends with it, without a line ending: it may lack its last characters. */
  isOpen?: boolean;
}

/** The physical lines of a source: lines = headers + blanks + continuations + skipped + records. */
export interface LineTally {
  lines: number;
  /** Includes a line that names the delimiter, and the lines above a header that has its line in the settings. */
  headers: number;
  blanks: number;
  /** Lines after the first of records that take several. */
  continuations: number;
  records: number;
  /** Rows that `csv.skipRows` leaves out; absent when it is not set. */
  skipped?: number;
}

/** The tally of a source of which nothing is read yet. */
export const startTally = (): LineTally => ({ lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 });

/** A table opened for one reading from its first record to its last. */
export interface TableReading {
  /** The origin in reports: a path, a pattern or the name of a query, never credentials. */
  source: string;
  /** The headers, trimmed and in NFC; `1`, `2`, ... for a source without a header. */
  headers: readonly string[];
  /** The probable header of a CSV file whose first line is none. */
  lowerHeader?: { line: number } | null;
  /** Whether it is a `rejects.csv`. */
  isFedBack?: boolean;
  /** The row count that the source states, if a query for it is configured. */
  stated?: number;
  /** Batches of at most 500 records, read on demand; throws RosterError when the source breaks off. */
  records: AsyncIterable<readonly TableRecord[]>;
  /** SHA-256 in hex over the bytes or rows of the source; throws RosterError until `records` is read. */
  digest(): string;
  tally(): LineTally;
  /** The progress in packed bytes, if the size of the source is known; null or absent otherwise. */
  progress?(): { doneBytes: number; totalBytes: number } | null;
  close(): Promise<void>;
}

/** Reads a whole number with or without thousands separators; null for another text. */
export function parseTotal(text: string): number | null {
  const bare = text.trim().replace(/(?<=\d)[\s.,'\u2019_](?=\d{3}(?!\d))/gu, '');
  return /^\d{1,12}$/.test(bare) ? Number(bare) : null;
}

/** What to write when a title is above the header. */
export const describeLowerHeader = (line: number): string =>
  `Line ${line} looks like the header: write \`header: ${line}\` under \`csv:\` of this roster, and the lines above it are not read.`;

/** So many texts of a table are quoted in a message. */
export const mostQuoted = 50;

/** Quotes texts of a table for a message, each with its first 60 characters. */
export function quoteAll(texts: readonly string[]): string {
  const shown = texts.slice(0, mostQuoted).map((text) => JSON.stringify(text.slice(0, 60)));
  return shown.join(', ') + (texts.length > shown.length ? ' ...' : '');
}
