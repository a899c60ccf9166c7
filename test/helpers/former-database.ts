import { copyFile, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';

/** Applies the migrations up to and including the one of this number; gives how to apply the others. */
export async function migrateUpTo(database: Database, last: number): Promise<() => Promise<readonly string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-migrations-'));
  const names = (await readdir('sql')).filter((name) => /^\d{4}_.*\.sql$/.test(name));
  for (const name of names) if (Number(name.slice(0, 4)) <= last) await copyFile(join('sql', name), join(folder, name));
  await migrate(database, folder);
  return () => migrate(database);
}

const line = z.union([
  z.object({ roster: z.array(z.string()) }),
  z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) }),
]);
const isoInstant = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00/g;

/**
 * Fills a database whose schema is that of migration 0014 with what the version of that time wrote over four runs (onboarding, night,
 * import, a night that stopped early), as if it had written it until now for this sandbox's account; gives the path of its roster.
 */
export async function fillFormerDatabase(
  database: Database,
  { url, publicKey }: Pick<Sandbox, 'url' | 'publicKey'>,
): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-former-')), 'roster.csv');
  const text = (await readFile('test/integration/store/database-of-0014.jsonl', 'utf8'))
    .replaceAll('ROSTER_FILE', path)
    .replaceAll('SERVICE_URL', url)
    .replaceAll('PUBLIC_KEY', publicKey);
  const newestMs = Math.max(...[...text.matchAll(isoInstant)].map(([instant]) => Date.parse(instant)));
  const laterMs = Date.now() - newestMs;
  const present = text.replaceAll(isoInstant, (instant) => new Date(Date.parse(instant) + laterMs).toISOString());
  const lines = present
    .trimEnd()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));
  const rows = new Map<string, unknown[]>();
  for (const each of lines) {
    if ('roster' in each) await writeFile(path, [...each.roster, ''].join('\n'));
    else rows.set(each.table, [...(rows.get(each.table) ?? []), each.row]);
  }
  for (const [table, held] of rows) {
    await database.execute(
      `insert into ${table} overriding system value select * from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
      [JSON.stringify(held)],
    );
  }
  await database.execute(
    `select setval(pg_get_serial_sequence(table_name, column_name), 1000)
     from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`,
  );
  return path;
}
