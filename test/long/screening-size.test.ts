import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listTierDueTimes, toCadence } from '../../src/screening/cadence.js';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { storePlan } from '../../src/store/plan.js';
import { readSearchTasks, saveScreeningResults } from '../../src/store/screenings.js';
import { insertBatch } from '../../src/store/search-batch.js';
import { startPostgres } from '../helpers/database-servers.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';

const customers = 5_000;
const batchSize = 32;

const embedded = testDatabases('embedded');

describe('plan and outcome of a party', () => {
  it('take no more than 200 bytes per customer and night on the embedded database, indexes included', async () => {
    await measureNight(await embedded.open());
  });

  it('take no more than 200 bytes per customer and night on Postgres, indexes included', async () => {
    // A server of its own: a long transaction of any other test would hold back what the whole cluster may reclaim.
    const server = await startPostgres();
    const database = await openDatabase({ url: server.url }, 'tests');
    try {
      await migrate(database);
      await measureNight(database);
    } finally {
      await database.close();
      await server.stop();
    }
  });
});

async function measureNight(database: Database): Promise<void> {
  const now = new Date();
  await database.runScript(`
      insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
      insert into roster (organisation_id, name, created_at) values (1, 'size', now());
      insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
      insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
        values (1, 1, 1, 'test', 'rescreen', 'running', 'started', 'k', 1, 'o', 's', 'v', now());
      insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
        values (1, 1, 's', 'd', now(), ${customers}, ${customers}, 0, 0, 0);
      insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, ${customers}) n;
      insert into customer (roster_id, reference, version, record_digest, first_import_id)
        select 1, 'C-' || n, 1, 'd', 1 from generate_series(1, ${customers}) n;
      insert into customer_version (customer_id, version, import_id, record)
        select n, 1, 1, '{"parties": []}' from generate_series(1, ${customers}) n;
      insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, ${customers}) n;
      insert into response (organisation_id, digest, body, total, truncated, first_seen_at) values (1, '\\x01', '{}', 0, false, now());
      insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
        select 1, n, 1, n, 1, 1, 's', now() - interval '1 day', 'clear' from generate_series(1, ${customers}) n;
    `);
  const plan = {
    runId: 1,
    rosterId: 1,
    accountId: 1,
    selection: 'due',
    leftRuns: [],
    tiers: listTierDueTimes(toCadence({ cadenceHours: 24 }), now),
    leaveAfterDays: 7,
    reuse: null,
    allowance: null,
  } as const;
  await database.transaction((transaction) => storePlan(transaction, 1, plan, toCadence({ cadenceHours: 24 })));
  // As in a run: the work list is being read while outcomes are saved.
  const tasks = readSearchTasks(database, 1, batchSize)[Symbol.asyncIterator]();
  await tasks.next();
  for (let first = 1; first <= customers; first += batchSize) {
    await database.transaction(async (transaction) => {
      const batchId = first;
      await insertBatch(transaction, { runId: 1, batchId, now });
      const ids = Array.from({ length: Math.min(batchSize, customers - first + 1) }, (_, index) => first + index);
      await saveScreeningResults(
        transaction,
        1,
        batchId,
        ids.map((partyId) => ({ partyId, outcome: 'screened', responseId: 1, reason: null })),
      );
    });
  }
  await tasks.return?.();
  const [size] = await database.query(
    z.object({ bytes: z.number(), screened: z.number() }),
    `select pg_total_relation_size('screening') as bytes, count(*)::integer as screened from screening where outcome = 'screened'`,
  );
  const perCustomer = (size?.bytes ?? Number.POSITIVE_INFINITY) / customers;
  printFigure(`plan and outcome (${database.dialect}): ${perCustomer.toFixed(0)} bytes per customer and night`);
  expect(size?.screened).toBe(customers);
  expect(perCustomer).toBeLessThanOrEqual(200);
}
