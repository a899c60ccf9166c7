import type { RosterRow } from './customer.js';

/** A roster opened for one reading from its first row to its last. */
export interface RosterReading {
  /** What reports show as the origin: a path or the name of a query, never credentials. */
  source: string;
  /** Batches of at most 500 rows in the source's order, read as they are asked for; throws RosterError when the source breaks off. */
  rows: AsyncIterable<readonly RosterRow[]>;
  /** SHA-256 in hex over the file's bytes or the query's rows; throws RosterError until `rows` has been read to its end. */
  digest(): string;
  /** Gives up a reading that is not read to its end; harmless at any time. */
  close(): Promise<void>;
}
