import { z } from 'zod';
import { listTables } from '../../store/backup/list-tables.js';
import type { Queryable } from '../../store/database.js';
import { packagedMigrations, readMigrations } from '../../store/migration-files.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

const rightsSchema = z.object({
  schema: z.string().nullable(),
  isStandby: z.boolean(),
  isReadOnly: z.boolean(),
  mayCreate: z.boolean().nullable(),
  closed: z.array(z.string()),
  foreign: z.array(z.string()),
});

const namesShown = 3;
const listNames = (names: readonly string[]): string =>
  `${names.slice(0, namesShown).join(', ')}${names.length > namesShown ? ` and ${names.length - namesShown} more` : ''}`;

/**
 * Whether this login may write what runs write, and change what migrations change; `pending`: how many of those wait. A server or a login
 * that only reads answers everything else well.
 */
export async function checkRights(database: Queryable, pending: number): Promise<Finding[]> {
  const check = 'database rights';
  const [facts] = await database.query(
    rightsSchema,
    // Our tables in the schema that this login works in; where there is none yet, nothing is closed or foreign.
    `with tables as (
       select oid, relname, relowner from pg_class
       where relkind = 'r' and relnamespace = to_regnamespace(current_schema()) and relname = any ($1::text[])
     )
     select current_schema() as schema, pg_is_in_recovery() as "isStandby",
       current_setting('transaction_read_only')::boolean as "isReadOnly",
       has_schema_privilege(current_schema(), 'create') as "mayCreate",
       array(
         select relname::text from tables
         where not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')) order by relname
       ) as closed,
       array(select relname::text from tables where not pg_has_role(relowner, 'usage') order by relname) as foreign`,
    [['schema_migration', ...listTables(await readMigrations(packagedMigrations()))]],
  );
  if (!facts) return [];
  const { schema, isStandby, isReadOnly, mayCreate, closed, foreign } = facts;
  if (isStandby) {
    return [wrong(check, 'this server is a standby, which can only be read', 'let DATABASE_URL name the primary')];
  }
  if (isReadOnly) {
    const next = 'set default_transaction_read_only to off for the login or the database, or use another login';
    return [wrong(check, 'with this login the database can only be read', next)];
  }
  const findings: Finding[] = [];
  if (mayCreate !== true) {
    const message = `this login may not create tables in the schema ${schema ?? 'that it works in, for there is none'}`;
    findings.push(wrong(check, message, `grant create on schema ${schema ?? 'public'} to the login`));
  }
  if (closed.length > 0) {
    const message = `this login may not read and write ${listNames(closed)}, so every run would fail`;
    findings.push(wrong(check, message, 'use the login that owns the tables'));
  }
  if (foreign.length > 0) {
    const message = `this login does not own ${listNames(foreign)}, so it cannot apply migrations`;
    const next = 'use the login that owns the tables, or let that one run `nightscreen migrate` first';
    findings.push(pending > 0 ? wrong(check, message, next) : doubtful(check, message, next));
  }
  return findings.length > 0 ? findings : [well(check, 'this login may read, write and migrate')];
}
