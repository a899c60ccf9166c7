import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { parse } from 'csv-parse';
import pg from 'pg';
import { toFileRoster } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { migrate } from '../../src/store/database/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { copyIn } from '../../src/store/database/postgres.js';
import { readPeakBytes } from '../helpers/figures.js';
import { makeAppContext } from '../helpers/small-world.js';

/** What the measuring process is to do: an import, or the three things that any import must do, one after another. */
export type ImportOrder =
  | { kind: 'bare'; url: string; roster: string }
  | { kind: 'import'; location: DatabaseLocation; roster: string };

/** What it measured, in milliseconds. */
export interface ImportReport {
  /** Each step by name. */
  steps: Readonly<Record<string, number>>;
  rows: number;
  /** This process's CPU time in all its threads. */
  cpuMs: number;
  /** The most memory that this process has held. */
  peakBytes: number;
  /** What went wrong, or null. */
  error: string | null;
}

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
};

const columns = [
  'customer_id',
  'type',
  'name',
  'birth_date',
  'countries',
  'risk_tier',
  'branch',
  'segment',
  'opened_on',
  'account_manager',
];

async function measureBare({ url, roster }: Extract<ImportOrder, { kind: 'bare' }>): Promise<Partial<ImportReport>> {
  let rows = -1;
  const parseMs = await time(async () => {
    for await (const _ of createReadStream(roster).pipe(parse())) rows += 1;
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const texts = columns.map((column) => `${column} text`).join(', ');
  await client.query(`create unlogged table bare_staging (${texts})`);
  await client.query(
    `create table bare_customer (id bigint generated always as identity primary key, ${texts}, unique (customer_id))`,
  );
  const bytes = await readFile(roster);
  const copyMs = await time(() => copyIn(client, 'copy bare_staging from stdin (format csv, header)', [bytes]));
  const insertMs = await time(() =>
    client.query(`insert into bare_customer (${columns.join(', ')}) select ${columns.join(', ')} from bare_staging`),
  );
  await client.query('drop table bare_staging, bare_customer');
  await client.end();
  return { steps: { parse: parseMs, copy: copyMs, insert: insertMs }, rows };
}

async function measureImport({
  location,
  roster,
}: Extract<ImportOrder, { kind: 'import' }>): Promise<Partial<ImportReport>> {
  const database = await openDatabase(location, 'bench');
  const nowhere = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };
  const app = { ...(await makeAppContext(database, nowhere)), emit: () => undefined };
  try {
    await migrate(database);
    let rows = 0;
    const importMs = await time(async () => {
      const { counts } = await runImport(app, toFileRoster('bench', roster), new AbortController().signal);
      if (!('rows' in counts)) throw new Error('the import counted nothing');
      rows = counts.rows;
    });
    return { steps: { import: importMs }, rows };
  } finally {
    await app.client().close();
    await database.close();
  }
}

process.on('message', (order: ImportOrder) => {
  const cpuBefore = process.cpuUsage();
  const nothing = { steps: {}, rows: 0, error: null };
  const working: Promise<Partial<ImportReport>> = order.kind === 'bare' ? measureBare(order) : measureImport(order);
  working
    .catch((error: unknown) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }))
    .then((report) => {
      const { user, system } = process.cpuUsage(cpuBefore);
      const peakBytes = readPeakBytes();
      process.send?.({ ...nothing, ...report, cpuMs: (user + system) / 1_000, peakBytes });
    });
});
process.on('disconnect', () => process.exit());
