import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listTierDueTimes, toCadence } from '../../src/screening/cadence.js';
import { type Database, findValue } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';
import { applyAnswers } from '../../src/store/night/apply-answers.js';
import { insertBatch, noteInFlight, RunNumbers, saveAttempts } from '../../src/store/night/ledger.js';
import { storePlan } from '../../src/store/night/plan.js';
import { readSearchTasks } from '../../src/store/night/screenings.js';
import { closeRun, refreshRunStatistics } from '../../src/store/runs.js';
import { runAsSuperuser, startPostgres } from '../helpers/database-servers.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';

const customers = 5_000;
/** At 100 calls a second; at 1,000 a commit has 100 answers, and fewer calls grow within their page. */
const usual = { perCommit: 10, mostBytes: 300, mostLogBytes: 900 };
const fast = { perCommit: 100, mostBytes: 310, mostLogBytes: 1_000 };

const embedded = testDatabases('embedded');

describe('a night in which nothing changes', () => {
  // For CI the number of answers that adds the most, on one database: rows and log of the other differ by less than a hundredth.
  const sizes = isFullSize ? [usual, fast] : [usual];

  it.runIf(isFullSize)('adds at most 300 bytes a customer on the embedded database and writes 900 of log', async () => {
    for (const size of sizes) await measureNights(await embedded.open(), size);
  });

  it('adds at most 300 bytes a customer on Postgres and writes 900 of log, a little more at 1,000 calls a second', async () => {
    // A server of its own: a long transaction of any other test would hold back what the whole cluster may reclaim.
    const server = await startPostgres();
    try {
      for (const size of sizes) {
        const database = await openDatabase({ url: server.url }, 'tests');
        if (size === usual) await migrate(database);
        await measureNights(database, size);
        await database.close();
      }
    } finally {
      await server.stop();
    }
  });
});

/**
 * Nights that fill what is used again each night, and two that are measured. The log is the write-ahead log with what vacuum writes, without the
 * images of whole pages that follow a checkpoint; the tables are vacuumed each day, as a server does. */
async function measureNights(database: Database, { perCommit, mostBytes, mostLogBytes }: typeof usual): Promise<void> {
  await fill(database);
  const logs: number[] = [];
  const play = async (): Promise<void> => {
    const begun = await readLog(database);
    await playNight(database, perCommit);
    logs.push(((await readLog(database)) - begun) / customers);
  };
  for (const _ of [1, 2, 3]) await play();
  // What is used again may grow once more where the server vacuums at the same time: then the next two nights count.
  let grown = Number.POSITIVE_INFINITY;
  for (let pair = 0; pair < 2 && grown > mostBytes; pair += 1) {
    const before = await readBytes(database);
    for (const _ of [1, 2]) await play();
    grown = ((await readBytes(database)) - before) / customers / 2;
  }
  // Images of whole pages follow each checkpoint: the embedded database makes one in four or five of these nights.
  const logged = Math.min(...logs);
  printFigure(
    `${database.dialect}, ${perCommit} answers a commit: ${grown.toFixed(1)} bytes per unchanged customer and night, ${logged.toFixed(0)} of log (${Math.max(...logs).toFixed(0)} at most)`,
  );
  const [kept] = await database.query(
    z.object({ screened: z.number(), calls: z.number() }),
    `select (select count(*) from screening where outcome = 'screened')::integer as screened,
       (select count(*) from call where outcome = 'ok' and service_request_id like 'req_%')::integer as calls`,
  );
  const screened = logs.length * customers;
  expect(kept).toEqual({ screened, calls: screened });
  expect(grown).toBeLessThanOrEqual(mostBytes);
  expect(logged).toBeLessThanOrEqual(mostLogBytes);
}

async function readLog(database: Database): Promise<number> {
  const bytes = await findValue(database, z.number(), `select (pg_current_wal_insert_lsn() - '0/0')::bigint as bytes`);
  return bytes ?? Number.NaN;
}

async function readBytes(database: Database): Promise<number> {
  const bytes = await findValue(
    database,
    z.number(),
    `select sum(pg_total_relation_size(oid))::bigint as bytes from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return bytes ?? Number.NaN;
}

async function fill(database: Database): Promise<void> {
  // Without triggers: most of these tables refuse it.
  await runAsSuperuser(
    database,
    `set session_replication_role = replica;
     truncate organisation, screening_request, customer, customer_version, party, planned, call
       restart identity cascade;
     set session_replication_role = origin;`,
  );
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
      insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits)
        select 1, decode(md5(n::text), 'hex'), '{}', 0, false, now(), 0, 0 from generate_series(1, ${customers}) n;
      insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
        select 1, n, 1, n, n, 1, 's', now() - interval '1 day', 'clear' from generate_series(1, ${customers}) n;
    `);
}

/** One run, from its plan to its end, as the program makes it. */
async function playNight(database: Database, perCommit: number): Promise<void> {
  const now = new Date();
  const [run] = await database.query(
    z.object({ runId: z.number() }),
    `insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
     values (1, 1, 1, 'test', 'rescreen', 'running', 'started', 'k', 1, 'o', 's', 'v', now()) returning run_id`,
  );
  const runId = run?.runId ?? Number.NaN;
  const numbers = new RunNumbers({ runId, worker: 1, wave: 1 });
  await database.execute(
    sql`insert into run_worker (run_id, worker, epoch, owner, taken_at, differences) values (${runId}, 1, 1, 'o', now(), '{}')`,
  );
  const plan = {
    runId,
    rosterId: 1,
    accountId: 1,
    leaveAfterDays: 7,
    reuse: null,
    allowance: null,
    leftRuns: [],
    selection: 'all' as const,
    tiers: listTierDueTimes(toCadence({ cadenceHours: 24 }), now),
  };
  await database.transaction((transaction) => storePlan(transaction, runId, plan, toCadence({ cadenceHours: 24 })));
  await refreshRunStatistics(database, runId);
  for await (const tasks of readSearchTasks({ database, version: 'v', settingsDigest: 's' }, runId, perCommit)) {
    const firstCall = numbers.nextCalls(tasks.length);
    const requestIds = tasks.map(({ requestId }) => requestId);
    await database.transaction((transaction) => noteInFlight(transaction, numbers, firstCall, requestIds, now));
    const searches = tasks.map(({ requestId }, place) => ({
      requestId,
      attempts: [
        {
          number: firstCall + place,
          startedAt: now,
          endedAt: now,
          status: 201,
          outcome: 'ok',
          serviceRequestId: `req_${randomUUID()}`,
        },
      ],
      unsent: [],
    }));
    const batch = numbers.nextBatch();
    const responses = new Map(tasks.map(({ requestId, known }) => [requestId, known?.responseId ?? 1]));
    await database.transaction(async (transaction) => {
      await insertBatch(transaction, numbers, batch, now);
      await saveAttempts(transaction, numbers, searches, { batch, responses });
    });
  }
  await refreshRunStatistics(database, runId);
  await database.transaction((transaction) => applyAnswers(transaction, runId, 1));
  await database.transaction((transaction) =>
    closeRun(transaction, runId, {
      state: 'complete',
      stateReasons: [],
      stage: 'finished',
      finishedAt: now,
      sums: null,
    }),
  );
  for (const table of ['planned', 'call', 'party_state', 'run', 'run_worker', 'run_gap']) {
    await database.execute(`vacuum ${table}`);
  }
}
