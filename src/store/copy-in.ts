import type { Duplex } from 'node:stream';
import pg from 'pg';

/** The part of pg's connection that its types leave out. */
interface CopyConnection {
  stream: Duplex;
  sendCopyFromChunk(rows: Buffer): void;
  endCopyFrom(): void;
}

// What pg's own query does when the server asks for rows is to refuse; the rest of its life is the same. A class of our own would not do: on
// a connection that sends statements ahead, pg takes no other than its own.
class CopyQuery extends pg.Query {
  readonly #rows: readonly Buffer[];

  constructor(
    sql: string,
    rows: readonly Buffer[],
    callback: (error: Error | undefined, result: { rowCount: number | null }) => void,
  ) {
    super(sql, callback);
    this.#rows = rows;
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.stream.cork();
    for (const block of this.#rows) connection.sendCopyFromChunk(block);
    connection.endCopyFrom();
    connection.stream.uncork();
  }
}

/** Sends rows, in the text format of `copy`, to the table that the statement names; gives how many the server took. */
export function copyIn(client: pg.ClientBase, sql: string, rows: readonly Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(
      new CopyQuery(sql, rows, (error, result) => {
        if (error) reject(error);
        else resolve(result.rowCount ?? 0);
      }),
    );
  });
}
