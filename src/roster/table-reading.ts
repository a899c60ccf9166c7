import type { RejectReason } from '../vocabulary.js';

/** One record of a table of texts: its fields in the order of the headers, or why it cannot be taken apart. */
export interface TableRecord {
  /** Physical line on which it begins, from 1, the header's included; for a query, the ordinal of the row. */
  line: number;
  /** The file it stands in where a roster has several; null otherwise. */
  file: string | null;
  /** As they stand, neither trimmed nor normalised; of a record at fault, what lies between the delimiters. */
  fields: readonly string[];
  /** Null where the record is sound. */
  fault: RejectReason | null;
  /** Whether the file ends in the middle of it. */
  isCut?: boolean;
}

/** How the physical lines of a source add up: lines = headers + blanks + continuations + records. */
export interface LineTally {
  lines: number;
  /** With the line before a header that names the delimiter. */
  headers: number;
  blanks: number;
  /** Lines after the first of records that take several. */
  continuations: number;
  records: number;
}

/** A table of texts opened for one reading from its first record to its last. */
export interface TableReading {
  /** What reports show as the origin: a path, a pattern or the name of a query, never credentials. */
  source: string;
  /** As the source spells them, trimmed and in NFC; `1`, `2`, ... where it has no header. */
  headers: readonly string[];
  /** Whether it is a `rejects.csv`. */
  isFedBack?: boolean;
  /** How many rows the source says it has, where it was asked. */
  stated?: number;
  /** Batches of at most 500 records in the source's order, read as they are asked for; throws RosterError when the source breaks off. */
  records: AsyncIterable<readonly TableRecord[]>;
  /** SHA-256 in hex over the bytes of the files or the rows of the query; throws RosterError until `records` has been read to its end. */
  digest(): string;
  /** How the lines read so far add up. */
  tally(): LineTally;
  /** How far the reading has come, in bytes as they lie, where the size of the source is known; null or absent where it is not. */
  progress?(): { doneBytes: number; totalBytes: number } | null;
  /** Gives up a reading that is not read to its end; harmless at any time. */
  close(): Promise<void>;
}

/** A whole number as sources write it, with or without separators of thousands; null where it is none. */
export function parseTotal(text: string): number | null {
  const bare = text.trim().replace(/(?<=\d)[\s.,'\u2019_](?=\d{3}(?!\d))/gu, '');
  return /^\d{1,12}$/.test(bare) ? Number(bare) : null;
}
