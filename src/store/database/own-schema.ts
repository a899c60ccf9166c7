import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { type Database, DatabaseError, readColumn } from './database.js';
import { type DatabaseLocation, openDatabase } from './open-database.js';

const prefix = 'nightscreen_selftest_';

/** A table of each such schema. Who uses the schema keeps this table locked, so that a schema without a lock is of a killed process. */
const marker = 'in_use';

const lockNotAvailable = '55P03';
/** Another process has dropped the schema. */
const goneStates = ['3F000', '42P01'];
const forbidden = '42501';

/**
 * Does work in a new schema of a Postgres database, and drops the schema in any case. Before that, drops what killed processes of the same login
 * have left over; touches no other schema. Throws StoreError `schema_refused` when the login may not create one, and `schema_left` when it cannot
 * be dropped.
 */
export async function withOwnSchema<T>(url: string, work: (location: DatabaseLocation) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url }, 'selftest');
  try {
    for (const left of await listSchemas(database)) await dropSchema(database, left, 'nowait');
    const schema = `${prefix}${randomBytes(6).toString('hex')}`;
    await createSchema(database, schema);
    try {
      return await holdSchema(database, schema, () => work({ url, schema }));
    } finally {
      await dropSchema(database, schema, 'wait');
    }
  } finally {
    await database.close();
  }
}

const listSchemas = (database: Database): Promise<readonly string[]> =>
  readColumn(
    database,
    z.string(),
    `select nspname::text from pg_namespace
     where nspname ~ '^${prefix}[0-9a-f]{12}$' and pg_get_userbyid(nspowner) = current_user
       and exists (select from pg_class where relnamespace = pg_namespace.oid and relname = '${marker}')
     order by 1`,
  );

async function createSchema(database: Database, schema: string): Promise<void> {
  try {
    await database.runScript(`create schema ${schema}; create table ${schema}.${marker} ()`);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.sqlState !== forbidden) throw error;
    const next = 'let its administrator run: grant create on database NAME to LOGIN. It can be revoked afterwards';
    throw new StoreError('schema_refused', `this login may not create a schema in the database; ${next}`, {
      cause: error,
    });
  }
}

/** Keeps the marker locked while the work is done. The transaction writes nothing, so that it holds up no cleaning of the server. */
const holdSchema = <T>(database: Database, schema: string, work: () => Promise<T>): Promise<T> =>
  database.transaction(
    async (holding) => {
      await holding.execute('set local idle_in_transaction_session_timeout = 0');
      await holding.execute(`lock table ${schema}.${marker} in access share mode`);
      return work();
    },
    { runsOnce: true },
  );

/** Drops a schema, unless another process uses it; `wait` for one's own, whose lock the server may release a moment after the work. */
async function dropSchema(database: Database, schema: string, wait: 'wait' | 'nowait'): Promise<void> {
  try {
    await database.transaction(async (transaction) => {
      await transaction.execute("set local lock_timeout = '30s'");
      const lock = `lock table ${schema}.${marker} in access exclusive mode`;
      await transaction.execute(wait === 'wait' ? lock : `${lock} nowait`);
      await transaction.execute(`drop schema ${schema} cascade`);
    });
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const state = error.sqlState ?? '';
    if (goneStates.includes(state) || (wait === 'nowait' && state === lockNotAvailable)) return;
    const next = `The next self-test drops it, or: drop schema ${schema} cascade`;
    throw new StoreError('schema_left', `the schema ${schema} could not be dropped: ${error.message}. ${next}`, {
      cause: error,
    });
  }
}
