import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parse } from 'csv-parse';
import pg from 'pg';
import { type Bench, type CommandFigures, computeExponent, describeSpread, median, type Site } from './bench.js';

/** The most that a whole import may take of what its bare parts take one after another. */
const goal = 6;
const mostBytes = 256 * 1_024 * 1_024;
/** The embedded database runs in our own process. */
const mostEmbedded = 200_000;

interface Sample {
  what: string;
  customers: number;
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  /** Of the bare parts just before. */
  bareSeconds: number;
}

/** The whole command, first and with the same roster again, beside bare csv-parse, inserts and insert-select of the same rows one after another. */
export const benchImport: Bench = async ({ ground, emit, sizes, rounds, isQuick }) => {
  const samples: Sample[] = [];
  const bareUrl = ground.toUrl(await ground.createDatabase());
  const measure = async (what: string, site: Site, bareSeconds: number): Promise<void> => {
    const { stdout, seconds, cpuSeconds, peakBytes }: CommandFigures = await site.run(['import', '--json']);
    const { customers } = site;
    if (!stdout.includes(`"rows":${customers}`)) throw new Error(`not all rows were imported: ${stdout}`);
    samples.push({ what, customers, seconds, cpuSeconds, peakBytes, bareSeconds });
    emit(
      `${what}, ${customers} rows: ${seconds.toFixed(2)} s (${cpuSeconds.toFixed(1)} s of our CPU), at most ${(peakBytes / 1_048_576).toFixed(0)} MB | bare ${bareSeconds.toFixed(2)} s`,
    );
  };
  for (const customers of sizes) {
    for (let round = 0; round < rounds; round += 1) {
      const site = await ground.openSite('postgres', customers);
      const roster = join(site.folder, 'roster.csv');
      await measure('first', site, await measureBare(bareUrl, roster));
      await measure('unchanged', site, await measureBare(bareUrl, roster));
      await ground.closeSite(site);
      if (isQuick || customers > mostEmbedded) continue;
      const embedded = await ground.openSite('embedded', customers);
      await measure('embedded first', embedded, await measureBare(bareUrl, join(embedded.folder, 'roster.csv')));
      await ground.closeSite(embedded);
    }
  }
  const largest = Math.max(...sizes);
  const first = samples.filter(({ what }) => what === 'first');
  const ratios = first
    .filter(({ customers }) => customers === largest)
    .map(({ seconds, bareSeconds }) => seconds / bareSeconds);
  const ratio = median(ratios);
  const exponent = computeExponent(first);
  emit(
    `${largest} rows: ${describeSpread(ratios)} times the bare parts (goal ${goal})${exponent === null ? '' : `, exponent ${exponent.toFixed(2)}`}`,
  );
  const peakBytes = Math.max(...samples.filter(({ what }) => what !== 'embedded first').map((each) => each.peakBytes));
  return { bench: 'import', ratio, goal, ok: ratio <= goal && peakBytes <= mostBytes, samples };
};

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const begunMs = performance.now();
  await work();
  return (performance.now() - begunMs) / 1_000;
};

const chunkRows = 4_000;

/** The time of the three things that any import must do. */
async function measureBare(url: string, roster: string): Promise<number> {
  const columns = ['customer_id', 'type', 'name'];
  const texts = columns.map((column) => `${column} text`).join(', ');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create unlogged table bare_staging (${texts})`);
    await client.query(
      `create table bare_customer (id bigint generated always as identity primary key, ${texts}, unique (customer_id))`,
    );
    const insert = (rows: readonly unknown[]) =>
      client.query(`insert into bare_staging select * from json_to_recordset($1) as row (${texts})`, [
        JSON.stringify(rows),
      ]);
    const seconds = await time(async () => {
      let chunk: unknown[] = [];
      for await (const row of createReadStream(roster).pipe(parse({ columns: true }))) {
        chunk.push(row);
        if (chunk.length < chunkRows) continue;
        await insert(chunk);
        chunk = [];
      }
      await insert(chunk);
      const names = columns.join(', ');
      await client.query(`insert into bare_customer (${names}) select ${names} from bare_staging`);
    });
    await client.query('drop table bare_staging, bare_customer');
    return seconds;
  } finally {
    await client.end();
  }
}
