import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { writeBackupFile } from '../../src/cli/commands/db.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { listTables } from '../../src/store/backup/format.js';
import { checkBackup, type RestoreSummary, restoreBackup } from '../../src/store/backup/restore-backup.js';
import { writeBackup } from '../../src/store/backup/write-backup.js';
import { type Database, findValue, readColumn } from '../../src/store/database/database.js';
import { migrate, packagedMigrations, readMigrations } from '../../src/store/database/migrate.js';
import { sql } from '../../src/store/database/statement.js';
import { runAsSuperuser } from './database-servers.js';

/** Applies the migrations up to and including the one of this number; gives how to apply the others. */
export async function migrateUpTo(database: Database, last: number): Promise<() => Promise<readonly string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-migrations-'));
  const names = (await readdir('sql')).filter((name) => /^\d{4}_.*\.sql$/.test(name));
  for (const name of names) if (Number(name.slice(0, 4)) <= last) await copyFile(join('sql', name), join(folder, name));
  await migrate(database, folder);
  return () => migrate(database);
}

const folder = new URL('../databases/', import.meta.url);

/** A database as a released version left it: a file of `test/databases`, and the number of its last migration. */
interface ReleasedDatabase {
  name: string;
  schema: number;
}

/** All of them, oldest first. */
export const releasedDatabases: readonly ReleasedDatabase[] = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .toSorted()
  .map((name) => ({ name, schema: Number(/schema-(\d+)/.exec(name)?.[1]) }));

const instant = /\b(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00(?::00)?|Z)/g;

/** Fills an empty database with what a released version left, as if it had left it until now; gives the path of its roster. */
export async function fillReleasedDatabase(
  database: Database,
  { name, schema }: ReleasedDatabase,
  { url, publicKey }: Pick<Sandbox, 'url' | 'publicKey'>,
): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-released-')), 'roster.csv');
  const text = readFileSync(new URL(name, folder), 'utf8');
  const [, roster = '""'] = /^-- roster: (.*)$/m.exec(text) ?? [];
  await writeFile(path, String(JSON.parse(roster)));
  const times = [...text.matchAll(instant)].map(([, day, time]) => Date.parse(`${day}T${time}Z`));
  const laterMs = Date.now() - Math.max(...times);
  const sql = text
    .replaceAll('ROSTER_FILE', path)
    .replaceAll('SERVICE_URL', url)
    .replaceAll('PUBLIC_KEY', publicKey)
    .replace(instant, (_, day: string, time: string) =>
      new Date(Date.parse(`${day}T${time}Z`) + laterMs).toISOString(),
    );
  await migrateUpTo(database, schema);
  // Without triggers, which an ordinary login cannot leave out.
  await runAsSuperuser(database, sql);
  return path;
}

const { signal } = new AbortController();

/** Writes a backup to a new file, as the command does; gives its path. */
export async function backUp(database: Database): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-backup-')), 'night.backup');
  await writeBackupFile(path, (write) =>
    writeBackup(database, { version: '0.0.0-test', now: new Date(), signal, write }),
  );
  return path;
}

/** Restores a backup as the command does, beside these folders of reports, and leaves it at its schema. */
export async function restore(
  database: Database,
  path: string,
  reportFolders: readonly string[] = [],
): Promise<RestoreSummary> {
  return restoreBackup(database, await checkBackup(path, signal), signal, reportFolders);
}

const rowShape = z.object({ row: z.string() });

/** Every row of every table of ours that is there, in its text form, but for the lease and the note that a restore leaves. */
export async function readAllRows(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const held: Record<string, readonly string[]> = {};
  for (const table of listTables(await readMigrations(packagedMigrations()))) {
    const there = await findValue(database, z.boolean(), sql`select to_regclass(${table}) is not null as there`);
    if (!there) continue;
    const row = table === 'organisation' ? "to_jsonb(each) - 'restorations'" : 'each.*';
    const rows = await database.query(rowShape, `select (${row})::text as row from ${table} each`);
    held[table] = rows.flatMap(({ row }) => (row.startsWith('(restored,') ? [] : row)).toSorted();
  }
  return held;
}

/** What keeps rows in order: constraints, and triggers that are switched on. */
export async function readChecks(database: Database): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as row
     from pg_constraint where connamespace = 'public'::regnamespace and contype in ('f', 'c')
     union all
     select pg_get_triggerdef(oid) || ' ' || tgenabled::text from pg_trigger where not tgisinternal order by 1`,
  );
}
