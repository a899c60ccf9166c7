import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StoreError } from '../errors.js';

/** One numbered migration as the code brings it. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
  sha256: string;
}

const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The folder of the package's own migrations, found from the sources and from the build alike. */
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
        throw new StoreError('migrations_invalid', `migration ${index + 1} is missing or there twice: found ${name}`);
      }
      // A checkout may have changed the line ends; the statements are the same.
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { version, name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
