import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { writeBackupFile } from '../../src/cli/commands/backup.js';
import { checkBackup, type RestoreSummary, restoreBackup } from '../../src/store/backup/restore-backup.js';
import { listTables, writeBackup } from '../../src/store/backup/write-backup.js';
import type { Database } from '../../src/store/database/database.js';
import { packagedMigrations, readMigrations } from '../../src/store/database/migrate.js';

const { signal } = new AbortController();

/** Writes a backup to a new file, as the command does; gives its path. */
export async function backUp(database: Database): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-backup-')), 'night.backup');
  await writeBackupFile(path, (write) =>
    writeBackup(database, { version: '0.0.0-test', now: new Date(), signal, write }),
  );
  return path;
}

/** Restores a backup as the command does, and leaves it at its schema. */
export async function restore(database: Database, path: string): Promise<RestoreSummary> {
  return restoreBackup(database, { path, migrations: await checkBackup(path, signal), signal });
}

const rowShape = z.object({ row: z.string() });

/** Every row of every table of ours that is there, in its text form, but for the lease that a restore leaves. */
export async function readAllRows(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const held: Record<string, readonly string[]> = {};
  for (const table of listTables(await readMigrations(packagedMigrations()))) {
    const [there] = await database.query(
      z.object({ there: z.boolean() }),
      'select to_regclass($1) is not null as there',
      [table],
    );
    if (!there?.there) continue;
    const rows = await database.query(rowShape, `select (each.*)::text as row from ${table} each`);
    held[table] = rows.flatMap(({ row }) => (row.startsWith('(restored,') ? [] : row)).toSorted();
  }
  return held;
}

/** What keeps rows in order: constraints, and triggers that are switched on. */
export async function readChecks(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    rowShape,
    `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as row
     from pg_constraint where connamespace = 'public'::regnamespace and contype in ('f', 'c')
     union all
     select pg_get_triggerdef(oid) || ' ' || tgenabled::text from pg_trigger where not tgisinternal order by 1`,
  );
  return rows.map(({ row }) => row);
}
