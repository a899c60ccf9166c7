import type { PartyRow, RosterRow } from './customer.js';
import type { LineTally } from './table-reading.js';

/** A source opened for one reading from its first row to its last. */
interface Reading<Row> {
  /** What reports show as the origin: a path or the name of a query, never credentials. */
  source: string;
  /** The source's columns. */
  headers: readonly string[];
  /** Whether its rows are those of a `rejects.csv`. */
  isFedBack: boolean;
  /** Batches of at most 500 rows in the source's order, read as they are asked for; throws RosterError when the source breaks off. */
  rows: AsyncIterable<readonly Row[]>;
  /** SHA-256 in hex over the files' bytes or the query's rows; throws RosterError until `rows` has been read to its end. */
  digest(): string;
  /** How the lines read so far add up. */
  tally(): LineTally;
  /** How far the reading has come, where the size of the source is known. */
  progress?(): { doneBytes: number; totalBytes: number } | null;
  /** Gives up a reading that is not read to its end; harmless at any time. */
  close(): Promise<void>;
}

/** A roster opened for reading its customers. */
export type RosterReading = Reading<RosterRow> & {
  /** How many rows its source says it has, once it was read to its end: null where it says nothing, absent where nobody asks. */
  controlTotal?: () => number | null;
};

/** A source of related parties opened for reading. */
export type PartyReading = Reading<PartyRow>;
