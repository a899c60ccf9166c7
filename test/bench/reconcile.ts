import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dossierLinkSchema, toFileRoster } from '../../src/roster/settings.js';
import { reconcileRoster } from '../../src/runs/reconcile-run.js';
import type { Database, Queryable } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { readRun } from '../../src/store/runs.js';
import { runAsSuperuser } from '../helpers/database-servers.js';
import { makeAppContext } from '../helpers/small-world.js';
import { type Bench, computeExponent, median } from './bench.js';

const must = 2;
/** The embedded database runs in our own process. */
const mostEmbedded = 50_000;
const mostBytes = 256 * 1_048_576;

/** A comparison of as many customers as dossiers, beside a bare full outer join that writes the compared columns of both sides to a table. */
export const benchReconcile: Bench = async ({ ground, emit, sizes, rounds }) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const samples: { what: string; customers: number; bareMs: number; ms: number; ratio: number }[] = [];
  const measure = async (what: string, database: Database, customers: number): Promise<void> => {
    await migrate(database);
    await fill(database, customers);
    const times: { bare: number; whole: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const bare = await time(() => database.transaction(joinBarely));
      times.push({ bare, whole: await time(() => reconcile(database)) });
    }
    // The first also stores what it finds, as a first night does.
    const ratio = median(times.map(({ bare, whole }) => whole / bare));
    const sample = {
      ...{ what, customers, ratio },
      bareMs: Math.round(median(times.map(({ bare }) => bare))),
      ms: Math.round(median(times.map(({ whole }) => whole))),
    };
    samples.push(sample);
    emit(
      `${what}, ${customers} x ${customers}: ${sample.ms} ms, bare join ${sample.bareMs} ms, ratio ${ratio.toFixed(2)} (first ${Math.round(times[0]?.whole ?? 0)} ms)`,
    );
  };
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
  }, 50);
  try {
    for (const size of sizes) {
      const database = await openDatabase({ url: ground.toUrl(await ground.createDatabase()) }, 'bench');
      await measure('postgres', database, size);
      await database.close();
    }
    const serverBytes = peakBytes;
    const embedded = await openDatabase({ folder: join(folder, 'database') }, 'bench');
    await measure('embedded', embedded, Math.min(mostEmbedded, ...sizes));
    await embedded.close();
    const own = samples.filter(({ what }) => what === 'postgres');
    const exponent = computeExponent(own.map(({ customers, ms }) => ({ customers, seconds: ms / 1_000 })));
    emit(
      `exponent ${exponent?.toFixed(2) ?? 'unknown'}; process on Postgres at most ${Math.round(serverBytes / 1_048_576)} MB`,
    );
    const large = own.at(-1);
    const ratio = large?.ratio ?? Number.NaN;
    return { bench: 'reconcile', ratio, goal: must, ok: ratio <= must && serverBytes <= mostBytes, samples };
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
};

async function time(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

async function reconcile(database: Database): Promise<void> {
  const roster = { ...toFileRoster('people', 'people.csv'), dossiers: dossierLinkSchema.parse({ staleAfter: '365d' }) };
  const app = await makeAppContext(
    database,
    { url: 'http://127.0.0.1:9', privateKey: 'private_none' },
    { settings: { rosters: [roster] } },
  );
  const run = await readRun(database, 2);
  if (run === null) throw new Error('there is no run');
  await database.execute('delete from reconciliation');
  await database.transaction(async (transaction) => {
    const reconciled = await reconcileRoster(transaction, { app, run, roster: 'people' }, 1);
    if (reconciled?.problem !== null) throw new Error(reconciled?.problem ?? 'nothing was compared');
  });
  await app.client().close();
}

async function joinBarely(transaction: Queryable): Promise<void> {
  await transaction.execute('drop table if exists bare');
  await transaction.execute(
    `create temporary table bare on commit drop as
     select c.*, d.dossier_id, d.reference as dossier_reference, d.status, d.name as dossier_name, d.type as dossier_type, d.is_test,
       d.created_at, d.updated_at, d.completed_at
     from (
       select customer.customer_id, customer.reference, customer.reference_key, customer.left_at,
         version.record -> 'parties' -> 0 ->> 'name' as name, version.record -> 'parties' -> 0 ->> 'type' as type
       from customer join customer_version version using (customer_id, version)
     ) c
     full join dossier d on d.reference_key = c.reference_key`,
  );
}

/** A screened roster and swept dossiers: 1 % of each without the other, 3 % spelt otherwise, 1 % rejected, a few of another name. */
async function fill(database: Database, customers: number): Promise<void> {
  await database.runScript(`
    insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
    insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public', true, 'http://127.0.0.1:9', now());
    insert into roster (organisation_id, name, created_at) values (1, 'people', now());
    insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at, finished_at)
      values (1, null, 1, 'test', 'sweep', 'complete', 'finished', 'sweep', 1, 'bench', '', '', now(), now()),
        (1, 1, 1, 'test', 'rescreen', 'complete', 'finished', 'roster', 1, 'bench', '', '', now(), now());
    update run set sweep = '{"proven": true}' where run_id = 1;
    insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
      values (2, 1, 'people.csv', '', now(), ${customers}, ${customers}, 0, 0, 0);
    insert into customer (roster_id, reference, version, record_digest, first_import_id)
      select 1, 'C-' || n, 1, decode(md5(n::text), 'hex'), 1 from generate_series(1, ${customers}) n;
    insert into customer_version (customer_id, version, import_id, record)
      select n, 1, 1, jsonb_build_object('parties', jsonb_build_array(jsonb_build_object(
        'role', 'customer', 'type', 'person', 'name', 'Given' || n % 997 || ' Family' || n % 9973, 'birthDate', null, 'countries', '[]'::jsonb
      )), 'attributes', '{}'::jsonb) from generate_series(1, ${customers}) n;
    insert into dossier (account_id, dossier_id, snapshot, changed_by_run_id)
      select 1, 'dossier_' || n, jsonb_build_object(
        'id', 'dossier_' || n, 'token', null, 'type', 'kyc', 'reference', case when n % 100 = 1 then 'D-' else 'C-' end || n,
        'status', case when n % 100 = 2 then 'rejected' else 'approved' end,
        'name', case when n % 1000 = 3 then 'Somebody Else' when n % 33 = 0 then 'FAMILY' || n % 9973 || ', Given' || n % 997
          else 'Given' || n % 997 || ' Family' || n % 9973 end,
        'riskScore', 1, 'isTest', true, 'downloadStatus', null, 'documentsCount', 1,
        'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-10-01T00:00:00.000Z', 'completedAt', '2026-01-02T00:00:00.000Z'
      ), 1 from generate_series(1, ${customers}) n;
  `);
  await runAsSuperuser(
    database,
    `
    set session_replication_role = replica;
    insert into party (party_id, customer_id, ordinal, request_id, is_current) overriding system value
      select n, n, 0, n, true from generate_series(1, ${customers}) n;
    insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
      select 1, n, 2, n, 1, 1, '', now(), 'clear' from generate_series(1, ${customers}) n;
  `,
  );
  // As the server does by itself after an import. Of a commit that is not on disk yet it would not note that all may see its rows.
  await runAsSuperuser(database, 'checkpoint');
  for (const table of ['customer', 'customer_version', 'dossier', 'party', 'party_state'])
    await database.runScript(`vacuum analyze ${table}`);
}
