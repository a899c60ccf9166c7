/**
 * Writes `test/databases/schema-NNNN.sql`, to be kept with a release: what this version leaves after a night and a night that was stopped.
 * `npm run fixture:database`; with FOLDER ROSTER URL KEY it writes what another version has left in the embedded database of a folder.
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { toFileRoster } from '../src/roster/settings.js';
import { runScreening } from '../src/runs/screening-run.js';
import { startSandbox } from '../src/sandbox/start-sandbox.js';
import { describeTables, listTables } from '../src/store/backup/format.js';
import { writeBackup } from '../src/store/backup/write-backup.js';
import type { Database } from '../src/store/database/database.js';
import { migrate, packagedMigrations, readMigrations } from '../src/store/database/migrate.js';
import { openDatabase } from '../src/store/database/open-database.js';
import { controls, makeAppContext, people, watchlist, writeRoster } from './helpers/small-world.js';

const { signal } = new AbortController();
const dayMs = 86_400_000;

interface Left {
  folder: string;
  roster: string;
  url: string;
  publicKey: string;
}

async function leaveNights(): Promise<Left> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-release-'));
  const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  const database = await openDatabase({ folder }, 'fixture');
  await migrate(database);
  const path = await writeRoster(people);
  const roster = toFileRoster('people', path);
  const night = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: true } as const;
  for (const [offsetMs, more] of [
    [-2 * dayMs, {}],
    [0, { maxSearches: 2 }],
  ] as const) {
    const app = await makeAppContext(database, sandbox, { offsetMs, settings: { controls, rosters: [roster] } });
    await runScreening(app, { ...night, ...more }, signal);
    await app.client().close();
  }
  await database.close();
  await sandbox.close();
  return { folder, roster: path, url: sandbox.url, publicKey: sandbox.publicKey };
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const line = z.union([
  z.object({ migrations: z.array(z.object({ version: z.number(), sha256: z.string() })), version: z.string() }),
  z.object({ table: z.string(), columns: z.array(z.string()) }),
  z.object({ sequences: z.record(z.string(), z.number().nullable()) }),
  z.object({ end: z.unknown() }),
  z.string(),
]);

/** The rows of a backup as SQL for a database whose schema is made already. */
function toSql(lines: readonly string[], roster: string): { schema: number; sql: string } {
  let schema = 0;
  const statements: string[] = [];
  let begin = '';
  let rows: string[] = [];
  for (const each of lines.map((text) => line.parse(JSON.parse(text)))) {
    if (typeof each === 'string') {
      rows.push(quote(each));
      continue;
    }
    if (rows.length > 0)
      statements.push(`${begin} unnest(array[\n${rows.join(',\n')}\n]::TABLE[]);`.replace('TABLE', table));
    rows = [];
    if ('migrations' in each) {
      schema = each.migrations.length;
      statements.push(
        `-- What Nightscreen ${each.version} left in a database; its schema is that of the first ${schema} files of sql/, without rows.`,
        `-- roster: ${JSON.stringify(roster)}`,
        'set session_replication_role = replica;',
        // A file of the release that is edited later is refused, as in its databases.
        ...each.migrations.map(
          ({ version, sha256 }) => `update schema_migration set sha256 = '${sha256}' where version = ${version};`,
        ),
      );
    } else if ('table' in each) {
      if (table === 'run') statements.push('select open_run_range(run_id) from run;');
      table = each.table;
      const columns = tables.get(table)?.written.join(', ');
      begin = `delete from ${table};\ninsert into ${table} (${columns}) overriding system value select ${columns} from`;
    } else if ('sequences' in each) {
      for (const [name, last] of Object.entries(each.sequences))
        if (last !== null) statements.push(`select setval('${name}', ${last});`);
    }
  }
  return { schema, sql: `${statements.join('\n')}\nreset session_replication_role;\n` };
}
let table = '';

const [folder, roster, url, publicKey] = process.argv.slice(2);
const left = folder && roster && url && publicKey ? { folder, roster, url, publicKey } : await leaveNights();
const database: Database = await openDatabase({ folder: left.folder }, 'fixture');
const tables = await describeTables(database, listTables(await readMigrations(packagedMigrations())));
let text = '';
const write = async (lines: string): Promise<void> => {
  text += lines;
};
await writeBackup(database, { version: '0.1.0', now: new Date(), signal, write });
await database.close();
const { schema, sql } = toSql(text.trimEnd().split('\n'), await readFile(left.roster, 'utf8'));
const named = sql
  .replaceAll(left.roster, 'ROSTER_FILE')
  .replaceAll(left.url, 'SERVICE_URL')
  .replaceAll(left.publicKey, 'PUBLIC_KEY');
const file = `test/databases/schema-${String(schema).padStart(4, '0')}.sql`;
await writeFile(file, named);
process.stdout.write(`${file}\n`);
