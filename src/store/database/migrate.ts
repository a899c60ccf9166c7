import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../clock.js';
import { SchemaError, StoreError } from '../../errors.js';
import { runIdSql } from '../runs.js';
import { type Database, DatabaseError, type Queryable, readValue, type Transaction } from './database.js';
import { describeHolder, holderRow, holderSql } from './leases.js';
import { sql } from './statement.js';

const appliedRow = z.object({ version: z.number(), name: z.string(), sha256: z.string() });

const userRow = holderRow.extend({
  key: z.string(),
  /** The id of the run that writes under the lease; null where there is none. */
  run: z.string().nullable(),
});
/** A user of the present schema: an unexpired lease and its run. */
type SchemaUser = z.infer<typeof userRow>;

/**
 * Brings the schema up to date and returns the names of the applied migrations. Each migration has its own transaction; concurrent calls wait for
 * each other, and the lease of a dead holder is waited for until it expires. Throws SchemaError `migration_edited` when an applied migration has
 * changed, `schema_newer` when the database is newer than the code, `schema_in_use` while another process renews a lease; DatabaseError when a
 * migration fails (it is rolled back).
 */
export async function migrate(database: Database, folder = packagedMigrations()): Promise<readonly string[]> {
  const migrations = await readMigrations(folder);
  if ((await findPending(database, migrations)).length === 0) return [];
  await createMigrationTable(database);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await applyUnused(database, migrations, migration)) applied.push(migration.name);
  }
  return applied;
}

const pollMs = 250;

/** Applies one migration when no other process uses the schema; a holder whose heartbeat changes is alive. */
async function applyUnused(database: Database, migrations: readonly Migration[], next: Migration): Promise<boolean> {
  const seen = new Map<string, number>();
  for (;;) {
    const answer = await apply(database, migrations, next);
    if (typeof answer === 'boolean') return answer;
    for (const user of answer) {
      const heartbeat = user.heartbeatAt.getTime();
      if ((seen.get(`${user.key} ${user.epoch}`) ?? heartbeat) !== heartbeat) {
        throw new SchemaError('schema_in_use', `the schema cannot be changed now: ${describeSchemaUser(user)}`);
      }
      seen.set(`${user.key} ${user.epoch}`, heartbeat);
    }
    await systemClock.sleep(pollMs);
  }
}

/** A user of the schema, in words for an operator. */
export const describeSchemaUser = ({ key, run, ...holder }: SchemaUser): string =>
  `${run === null ? key : `run ${run}`} is held by ${describeHolder(holder)}`;

/** Whether a table exists: a statement that names a missing table would fail. */
const hasTable = (database: Queryable, name: 'lease' | 'schema_migration'): Promise<boolean> =>
  readValue(database, z.boolean(), sql`select to_regclass(${name}::text) is not null as present`);

/** The users of the present schema of a Postgres database. The embedded one has a single owner, so leases in it belong to dead processes. */
export async function readSchemaUsers(database: Queryable): Promise<readonly SchemaUser[]> {
  if (!(await hasTable(database, 'lease'))) return [];
  return database.query(
    userRow,
    sql`select lease_key as key, ${holderSql},
       (select ${runIdSql('run')} from run
        where run.lease_key = lease.lease_key and run.epoch = lease.epoch and run.state = 'running'
        order by run.run_id desc limit 1) as run
     from lease where expires_at > clock_timestamp() order by lease_key`,
  );
}

/** The names of the migrations that `db migrate` would apply; throws SchemaError as it does. */
export async function pendingMigrations(
  database: Queryable,
  folder = packagedMigrations(),
): Promise<readonly string[]> {
  return (await findPending(database, await readMigrations(folder))).map((migration) => migration.name);
}

async function findPending(database: Queryable, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  return (await hasTable(database, 'schema_migration')) ? readPending(database, migrations) : migrations;
}

/** Whether any migration was applied to a database. */
export async function hasSchema(database: Queryable): Promise<boolean> {
  if (!(await hasTable(database, 'schema_migration'))) return false;
  return readValue(database, z.boolean(), 'select exists (select from schema_migration) as present');
}

async function readPending(database: Queryable, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const landed = await readLanded(database, migrations);
  return migrations.filter((migration) => !landed.includes(migration));
}

/** The applied migrations of a database that has the table of migrations; throws SchemaError as `migrate` does. */
export async function readLanded(database: Queryable, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const rows = await database.query(appliedRow, 'select version, name, sha256 from schema_migration order by version');
  return rows.map(({ version, name, sha256 }) => {
    const migration = migrations[version - 1];
    if (!migration) {
      throw new SchemaError(
        'schema_newer',
        `the database has the migration ${name}, which this version does not know. Run the newer version of Nightscreen, or restore a backup`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new SchemaError(
        'migration_edited',
        `${name} was changed after it was applied to the database. Restore the file, and put the change into a new migration`,
      );
    }
    return migration;
  });
}

/** Returns true for an applied migration, false where another process applied it, and else the users of the schema that prevent it. */
async function apply(
  database: Database,
  migrations: readonly Migration[],
  next: Migration,
): Promise<boolean | readonly SchemaUser[]> {
  return database.transaction(async (transaction) => {
    // Only one process migrates; readers do not wait.
    await transaction.execute('lock table schema_migration in share row exclusive mode');
    if (!(await readPending(transaction, migrations)).includes(next)) return false;
    const users = database.dialect === 'embedded' ? [] : await holdUnused(transaction);
    if (users.length > 0) return users;
    await layMigration(transaction, next);
    return true;
  });
}

/** Returns the users of the schema; without any, prevents new ones until the transaction ends. */
async function holdUnused(transaction: Transaction): Promise<readonly SchemaUser[]> {
  const users = await readSchemaUsers(transaction);
  if (users.length > 0 || !(await hasTable(transaction, 'lease'))) return users;
  // Leases can then be neither taken nor renewed; the second query finds a lease taken before the lock.
  await transaction.execute('lock table lease in share mode');
  return readSchemaUsers(transaction);
}

class TriedError extends Error {}

/**
 * Applies the pending migrations of a server in a transaction that is rolled back. Gives why this login cannot apply them; null when it can, and
 * where another process uses the schema, which would have to wait.
 */
export async function findRefusedMigration(database: Database): Promise<string | null> {
  const migrations = await readMigrations(packagedMigrations());
  let tried = 'the table of migrations';
  try {
    await database.transaction(async (transaction) => {
      await transaction.execute("set local lock_timeout = '2s'");
      await transaction.execute(migrationTableSql);
      await transaction.execute('lock table schema_migration in share row exclusive mode');
      if ((await holdUnused(transaction)).length > 0) throw new TriedError();
      for (const migration of await readPending(transaction, migrations)) {
        tried = migration.name;
        await layMigration(transaction, migration);
      }
      throw new TriedError();
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.sqlState === forbidden) return `${tried}: ${error.message}`;
    if (!(error instanceof TriedError || (error instanceof DatabaseError && error.sqlState === lockTimeout)))
      throw error;
  }
  return null;
}

const forbidden = '42501';
const lockTimeout = '55P03';

/** Applies one migration in the caller's transaction; the caller ensures that it is the next one and that no other process applies it. */
export async function layMigration(transaction: Transaction, next: Migration): Promise<void> {
  await transaction.runScript(next.sql);
  await transaction.execute(
    sql`insert into schema_migration (version, name, sha256, applied_at)
     values (${next.version}, ${next.name}, ${next.sha256}, clock_timestamp())`,
  );
}

// The loser of two concurrent creations gets one of these: a duplicate in the catalogue, table or type.
const duplicateStates = new Set(['23505', '42P07', '42710']);

const migrationTableSql = `
  create table if not exists schema_migration (
    version integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null
  )`;

/** Creates the table of applied migrations, unless it exists. */
export async function createMigrationTable(database: Database): Promise<void> {
  try {
    await database.execute(migrationTableSql);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !duplicateStates.has(error.sqlState ?? '')) throw error;
  }
}

/** One numbered migration of the code. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
  sha256: string;
}

const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The folder of the package's migrations, the same from the sources and from the build. */
export function packagedMigrations(): string {
  return join(dirname(createRequire(import.meta.url).resolve('#package.json')), 'sql');
}

/** The migrations of a folder in order; throws StoreError when their numbers are not 1, 2, 3 and so on. */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => fileName.test(name)).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(fileName.exec(name)?.[1]);
      if (version !== index + 1) {
        throw new StoreError('migrations_invalid', `migration ${index + 1} is missing or duplicate: found ${name}`);
      }
      // A checkout may have changed the line endings; the statements are the same.
      const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { version, name, sql: text, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
