import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/store/database/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { startPgbouncer } from '../helpers/start-pgbouncer.js';
import { startPostgres } from '../helpers/start-postgres.js';
import type { Locate } from './site.js';

/** Where a campaign gets its databases: each call of a `Locate` makes a new migrated, empty one. */
export interface Places {
  embedded: Locate;
  postgres: Locate;
  /** The same server through pgbouncer in transaction mode; null where that is not installed. */
  pooled: Locate | null;
  close(): Promise<void>;
}

/** Starts a Postgres server and, where it is installed, pgbouncer before it. */
export async function openPlaces(): Promise<Places> {
  const server = await startPostgres();
  const pooler = await startPgbouncer(new URL(server.url).port);
  const folders: string[] = [];
  const makeDatabase = async (): Promise<string> => {
    const name = `campaign_${randomBytes(6).toString('hex')}`;
    const admin = await openDatabase({ url: server.url }, 'campaign');
    await admin.execute(`create database ${name}`).finally(() => admin.close());
    await migrateAt({ url: toDatabase(server.url, name) });
    return name;
  };
  return {
    embedded: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'nightscreen-campaign-'));
      folders.push(folder);
      await migrateAt({ folder });
      return { folder };
    },
    postgres: async () => ({ url: toDatabase(server.url, await makeDatabase()) }),
    pooled: pooler && (async () => ({ url: toDatabase(pooler.url, await makeDatabase()) })),
    close: async () => {
      await pooler?.stop();
      await server.stop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

const toDatabase = (url: string, name: string): string => url.replace(/postgres$/, name);

async function migrateAt(location: DatabaseLocation): Promise<void> {
  const database = await openDatabase(location, 'campaign');
  await migrate(database).finally(() => database.close());
}
