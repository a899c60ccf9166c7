import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database/database.js';
import { migrateUpTo } from './former-database.js';

const folder = new URL('../databases/', import.meta.url);

/** A database as a released version left it: a file of `test/databases`, and the number of its last migration. */
export interface ReleasedDatabase {
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
  await database.transaction((transaction) => transaction.runScript(sql));
  return path;
}
