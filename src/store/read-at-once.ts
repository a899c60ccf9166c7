import type { Database, Queryable } from './database.js';

/** Runs several queries over one state of the database, so that what they give fits together whatever is committed meanwhile. */
export function readAtOnce<T>(database: Database, work: (snapshot: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    return work(transaction);
  });
}
