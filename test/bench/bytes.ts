import { fullRate } from './bare.js';
import { type Bench, describeSpread, type Ground, type Site } from './bench.js';

/** The most bytes of an unchanged customer-night. */
const goals = { database: 40, wal: 200 };

/** Bytes of a database's tables with their indexes, and of the server's log. */
interface Bytes {
  database: number;
  wal: number;
}

const readTables = (ground: Ground, site: Site): Promise<{ name: string; bytes: string }[]> =>
  ground.query(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'm')`,
    site.database ?? '',
  );

/** What an unchanged night adds; the log is read from a checkpoint on. */
async function measureGrowth(ground: Ground, site: Site): Promise<Bytes & { tables: Record<string, number> }> {
  const before = new Map((await readTables(ground, site)).map(({ name, bytes }) => [name, Number(bytes)]));
  await ground.query('checkpoint');
  const [begun] = await ground.query<{ at: string }>('select pg_current_wal_lsn() as at');
  await site.rescreen();
  const [ended] = await ground.query<{ wal: string }>(`select pg_current_wal_lsn() - '${begun?.at}'::pg_lsn as wal`);
  const tables: Record<string, number> = {};
  for (const { name, bytes } of await readTables(ground, site)) {
    const grown = Number(bytes) - (before.get(name) ?? 0);
    if (grown !== 0) tables[name] = grown;
  }
  return { database: Object.values(tables).reduce((sum, grown) => sum + grown, 0), wal: Number(ended?.wal), tables };
}

/**
 * Bytes of database and log for each customer of a night in which nothing changed, at 10 calls a second and at the full rate. What a night costs
 * whatever its customers is taken away: a roster of a tenth of the size is measured beside it.
 */
export const benchBytes: Bench = async ({ ground, emit, sizes, rounds, isQuick }) => {
  const samples: (Bytes & { perSecond: number; customers: number })[] = [];
  const nights = isQuick
    ? [{ perSecond: fullRate, customers: 400 }]
    : [
        { perSecond: 10, customers: 400 },
        { perSecond: fullRate, customers: Math.max(...sizes) },
      ];
  for (const { perSecond, customers } of nights) {
    const [small, large] = [await fill(ground, customers / 10), await fill(ground, customers)];
    for (const site of [small, large]) await site.setRate(perSecond);
    for (let round = 0; round < rounds; round += 1) {
      const [least, most] = [await measureGrowth(ground, small), await measureGrowth(ground, large)];
      const each = (bytes: keyof Bytes): number => (most[bytes] - least[bytes]) / (large.customers - small.customers);
      const sample = { perSecond, customers, database: each('database'), wal: each('wal') };
      samples.push(sample);
      const largest = Object.entries(most.tables).toSorted(([, one], [, other]) => other - one);
      emit(
        `${perSecond}/s, ${customers} customers: ${sample.database.toFixed(0)} bytes of database, ${sample.wal.toFixed(0)} of log (${largest
          .slice(0, 4)
          .map(([name, grown]) => `${name} ${(grown / customers).toFixed(0)}`)
          .join(', ')})`,
      );
    }
    for (const site of [small, large]) await ground.closeSite(site);
  }
  const shares = nights.flatMap(({ perSecond }) =>
    (['database', 'wal'] as const).map((what) => {
      const own = samples.filter((sample) => sample.perSecond === perSecond).map((sample) => sample[what]);
      emit(`${perSecond}/s, ${what}: ${describeSpread(own, 0)} bytes (goal ${goals[what]})`);
      // A page more or less is much at 10 calls a second: rounds add up.
      return own.reduce((sum, bytes) => sum + bytes, 0) / own.length / goals[what];
    }),
  );
  const ratio = Math.max(...shares);
  return { bench: 'bytes', ratio, goal: 1, ok: ratio <= 1, samples };
};

/** A site after its first night. */
async function fill(ground: Ground, customers: number): Promise<Site> {
  const site = await ground.openSite('postgres', Math.ceil(customers));
  await site.rescreen();
  return site;
}
