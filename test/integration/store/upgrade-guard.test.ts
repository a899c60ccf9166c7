import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { writeBackup } from '../../../src/store/backup/write-backup.js';
import { releaseLease, renewLease, tryAcquireLease } from '../../../src/store/database/leases.js';
import { migrate, readSchemaUsers } from '../../../src/store/database/migrate.js';
import { sql } from '../../../src/store/database/statement.js';
import { testDatabases } from '../../helpers/databases.js';
import { migrateUpTo } from '../../helpers/former-databases.js';

const databases = testDatabases('postgres');

/** A database of a former schema on which a night has the lease for so long, and how to bring it to the present one. */
async function openFormer(ttlMs: number) {
  const location = await databases.locateEmpty();
  const database = await databases.open(location);
  const migrateOn = await migrateUpTo(database, 15);
  await database.execute(
    `insert into organisation (name, digest_key, created_at) values ('default', decode(repeat('00', 32), 'hex'), now())`,
  );
  const answer = await tryAcquireLease(database, 'roster:1', 'old-host:4711:abcd', ttlMs);
  if (!('acquired' in answer)) throw new Error('the lease is held');
  await database.execute(
    sql`insert into run (organisation_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
     values (1, 'test', 'rescreen', 'running', 'started', 'roster:1', ${answer.acquired.epoch}, 'old-host:4711:abcd', '', '0.0.1', '2026-11-01T02:00:00Z')`,
  );
  return { location, database, migrateOn, lease: answer.acquired };
}

it('changes no schema under a night of an older version, says who runs which run since when, and goes on as soon as its lease is released', async () => {
  const ttlMs = 60_000;
  const { database, migrateOn, lease } = await openFormer(ttlMs);
  const heartbeat = setInterval(() => void renewLease(database, lease, ttlMs), 500);
  await expect(migrateOn()).rejects.toMatchObject({
    name: 'SchemaError',
    code: 'schema_in_use',
    message: expect.stringMatching(/run 2026-11-01-rescreen-1 is held by old-host:4711:abcd since 20\d\d-/),
  });
  expect(await readSchemaUsers(database)).toHaveLength(1);
  clearInterval(heartbeat);
  const migrating = migrateOn();
  await delay(400);
  await releaseLease(database, lease);
  expect(await migrating).toContain('0016_security.sql');
});

it('waits for the lease of a night that has died, also in two processes at once', async () => {
  const { location, migrateOn } = await openFormer(1_500);
  const other = await databases.open(location);
  const applied = await Promise.all([migrateOn(), migrate(other)]);
  expect(applied.flat().toSorted()).toEqual([...new Set(applied.flat())].toSorted());
  expect(applied.flat()).toContain('0016_security.sql');
});

it('backs up no database with a table that no migration has made', async () => {
  const database = await databases.open();
  const request = { version: 'test', now: new Date(), signal: new AbortController().signal, write: async () => {} };
  await expect(writeBackup(database, request)).resolves.toMatchObject({ rows: { run: 0 } });
  await database.runScript('create unlogged table passing (n int); create table forgotten (n int)');
  await expect(writeBackup(database, request)).rejects.toMatchObject({
    code: 'unknown_tables',
    message: expect.stringMatching(/does not know table forgotten of/),
  });
});
