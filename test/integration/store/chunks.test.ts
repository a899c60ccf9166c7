import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.js';
import { readColumn } from '../../../src/store/database/database.js';
import { tryAcquireLease } from '../../../src/store/database/leases.js';
import { sql } from '../../../src/store/database/statement.js';
import {
  assertClaim,
  claimChunk,
  endChunks,
  leaveChunk,
  openChunks,
  readChunkProgress,
} from '../../../src/store/night/chunks.js';
import { noteInFlight, RunNumbers } from '../../../src/store/night/ledger.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';

describeOnPostgres('chunks of a run', (open) => {
  let database: Database;
  beforeEach(async () => {
    database = await open();
    await database.runScript(`
      insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
      insert into roster (organisation_id, name, created_at) values (1, 'r', now());
      insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
      insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
        values (1, 1, 1, 'test', 'rescreen', 'running', 'planned', 'k', 1, 'o', 's', 'v', now());
      insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
        values (1, 1, 's', 'd', now(), 10, 10, 0, 0, 0);
      insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, 10) n;
      insert into customer (roster_id, reference, version, record_digest, first_import_id)
        select 1, 'C-' || n, 1, 'd', 1 from generate_series(1, 10) n;
      insert into customer_version (customer_id, version, import_id, record) select n, 1, 1, '{"parties": []}' from generate_series(1, 10) n;
      insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, 10) n;
      insert into planned (run_id, party_id, request_id, customer_version, search_order, reason)
        select 1, n, n, 1, 11 - n, 'new' from generate_series(1, 10) n;
      insert into run_worker (run_id, worker, epoch, owner, taken_at, differences) values (1, 1, 1, 'o', now(), '{}');
    `);
  }, 120_000);

  /** A worker with a lease of its own. */
  async function startWorker(name: string, ttlMs = 60_000) {
    const answer = await tryAcquireLease(database, `worker/default/${name}`, name, ttlMs);
    if (!('acquired' in answer)) throw new Error('the lease is held');
    const lease = answer.acquired;
    const scope = { joined: new Map(), accountId: 1, version: 'v', settingsDigest: 's', takenAt: new Date() };
    return {
      lease,
      claim: (others: Partial<typeof scope> = {}) =>
        database.transaction((transaction) => claimChunk(transaction, lease, { ...scope, ...others })),
    };
  }

  const cut = (sizes: Partial<Parameters<typeof openChunks>[2]> = {}) =>
    database.transaction((transaction) =>
      openChunks(transaction, 1, { version: 'v', size: 3, first: 4, each: 4, most: 100, ...sizes }),
    );

  it('follow the order of the searches, and belong to one wave', async () => {
    expect(await cut()).toEqual([{ searches: 4 }, { searches: 4 }, { searches: 2 }]);
    expect(await readRows(database, 'select number, wave, party_ids, searches from chunk order by number')).toEqual([
      { number: 1, wave: 1, partyIds: [10, 9, 8], searches: 3 },
      { number: 2, wave: 1, partyIds: [7], searches: 1 },
      { number: 3, wave: 2, partyIds: [6, 5, 4], searches: 3 },
      { number: 4, wave: 2, partyIds: [3], searches: 1 },
      { number: 5, wave: 3, partyIds: [2, 1], searches: 2 },
    ]);
  });

  it('are cut for no more searches than allowed', async () => {
    expect(await cut({ most: 5 })).toEqual([{ searches: 4 }, { searches: 1 }]);
    await database.execute('delete from chunk');
    expect(await cut({ most: 0 })).toEqual([]);
  });

  it('have one holder at a time, of the right account, version and settings, and of the present wave', async () => {
    await cut();
    const [one, two] = [await startWorker('one'), await startWorker('two')];
    expect(await one.claim({ accountId: 2 })).toBe(null);
    expect(await one.claim({ version: 'other' })).toBe(null);
    expect(await one.claim({ settingsDigest: 'other' })).toBe(null);
    const claims = await Promise.all([one.claim(), two.claim(), one.claim(), two.claim()]);
    expect(claims.flatMap((claim) => claim?.number ?? []).toSorted()).toEqual([1, 2]);
    await database.execute('update run set wave = 2');
    expect(await two.claim()).toMatchObject({ number: 3, wave: 2 });
    await database.execute(`update run set state = 'stopped'`);
    expect(await two.claim()).toBe(null);
  });

  it('pass to another worker when the lease has expired; the former one writes nothing, and its calls are unknown', async () => {
    await cut();
    const slow = await startWorker('slow', 50);
    const lost = await slow.claim();
    if (!lost) throw new Error('there is no chunk');
    await noteInFlight(database, new RunNumbers({ ...lost, wave: 1 }), 1, [10, 9], new Date());
    await database.transaction((transaction) => assertClaim(transaction, lost));
    await new Promise((resolve) => setTimeout(resolve, 80));
    const next = await (await startWorker('next')).claim();
    expect(next).toMatchObject({ number: lost.number, epoch: lost.epoch + 1, worker: lost.worker + 1 });
    await expect(database.transaction((transaction) => assertClaim(transaction, lost))).rejects.toThrow(
      /no longer ours/,
    );
    expect(await readColumn(database, z.string(), 'select outcome from call')).toEqual(['unknown', 'unknown']);
    await database.transaction((transaction) => leaveChunk(transaction, lost, 'done'));
    expect(await readColumn(database, z.string(), 'select state from chunk where number = 1')).toEqual(['open']);
  });

  it('are given to nobody after ten processes have died or failed with one', async () => {
    await cut({ first: 3, each: 3, most: 3 });
    const worker = await startWorker('one');
    const claimAndLeave = async (end: Parameters<typeof leaveChunk>[2]) => {
      const claim = await worker.claim();
      if (!claim) throw new Error('there is no chunk');
      await database.transaction((transaction) => leaveChunk(transaction, claim, end));
    };
    for (let turn = 0; turn < 20; turn += 1) await claimAndLeave('given_back');
    for (let turn = 0; turn < 8; turn += 1) await claimAndLeave('failed');
    const dying = await startWorker('dying', 50);
    expect(await dying.claim()).toMatchObject({ number: 1 });
    await new Promise((resolve) => setTimeout(resolve, 80));
    // The ninth death is counted with the tenth claim.
    await claimAndLeave('failed');
    expect(await worker.claim()).toBe(null);
    expect(await readChunkProgress(database, 1, 1)).toMatchObject({ open: 1, abandoned: 1, pauseMs: 0 });
  });

  it('wait for a holder that writes, and are not given away meanwhile', async () => {
    await cut({ first: 3, each: 3, most: 3 });
    const slow = await startWorker('slow', 50);
    const held = await slow.claim();
    if (!held) throw new Error('there is no chunk');
    const next = await startWorker('next');
    await database.transaction(async (transaction) => {
      await assertClaim(transaction, held);
      await new Promise((resolve) => setTimeout(resolve, 80));
      expect(await next.claim()).toBe(null);
    });
    expect(await next.claim()).toMatchObject({ number: held.number });
  });

  it('are taken from all workers together', async () => {
    await cut();
    const worker = await startWorker('one');
    const [done, held] = [await worker.claim(), await worker.claim()];
    if (!done || !held) throw new Error('a chunk is missing');
    await database.transaction((transaction) => leaveChunk(transaction, done, 'done'));
    await database.transaction((transaction) => endChunks(transaction, 1));
    await expect(database.transaction((transaction) => assertClaim(transaction, held))).rejects.toThrow(
      /no longer ours/,
    );
    expect(await worker.claim()).toBe(null);
    expect(
      await readRows(database, sql`select state, count(*)::integer as count from chunk group by 1 order by 1`),
    ).toEqual([
      { state: 'done', count: 1 },
      { state: 'stopped', count: 4 },
    ]);
  });
});
