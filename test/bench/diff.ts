import { type Bench, computeExponent, describeSpread, median } from './bench.js';

/** The most that the report of a night in which 1 % changed may take of the bare comparison of two nights in SQL. */
const goal = 1;
const changedShare = 0.01;

/** Two nights of answers, each a row by customer, as a bare comparison would have them. */
const fillSql = (customers: number): string =>
  ['before', 'after']
    .map(
      (night) => `
        create table ${night} (customer_id integer primary key, reference text, name text, digest bytea, matches jsonb);
        insert into ${night}
          select n, 'C-' || n, 'Customer Number ' || n,
            sha256(convert_to(n::text || case when n % 100 = 0 then '${night}' else '' end, 'UTF8')),
            case when n % 5 = 0 then (select jsonb_agg(jsonb_build_object('id', 'amla_' || n || rank, 'name', 'Petrov-Vodkin ' || n,
              'score', 0.84, 'topics', '["sanction"]'::jsonb)) from generate_series(1, 2) rank) end
          from generate_series(1, ${customers}) n;
        analyze ${night};`,
    )
    .join('');
const compareSql = `
  select reference, before.name, before.matches as former, after.matches
  from before full join after using (customer_id, reference)
  where before.digest is distinct from after.digest order by reference`;

/** The report of a night (its data and all its files) in which 1 % of the customers changed, beside a bare SQL comparison of two nights. */
export const benchDiff: Bench = async ({ ground, emit, sizes, rounds }) => {
  const samples: { customers: number; seconds: number; bareSeconds: number; ratio: number }[] = [];
  for (const customers of sizes) {
    ground.stub.order({ changedShare: 0 });
    const site = await ground.openSite('postgres', customers);
    await site.rescreen();
    ground.stub.order({ changedShare });
    await site.rescreen();
    const bare = await ground.createDatabase();
    await ground.query(fillSql(customers), bare);
    for (let round = 0; round < rounds; round += 1) {
      const begunMs = performance.now();
      const changed = await ground.query(compareSql, bare);
      const bareSeconds = (performance.now() - begunMs) / 1_000;
      if (changed.length !== Math.floor(customers * changedShare)) throw new Error('the comparison is wrong');
      const seconds = (await site.report(`report-${round}`))['report'];
      if (seconds === undefined) throw new Error('the log does not tell how long the report took');
      const sample = { customers, seconds, bareSeconds, ratio: seconds / bareSeconds };
      samples.push(sample);
      emit(`${customers} customers: report ${seconds.toFixed(2)} s | bare ${bareSeconds.toFixed(2)} s`);
    }
    await ground.closeSite(site);
    await ground.query(`drop database ${bare} with (force)`);
  }
  ground.stub.order({ changedShare: 0 });
  const largest = Math.max(...sizes);
  const ratios = samples.filter(({ customers }) => customers === largest).map((sample) => sample.ratio);
  const ratio = median(ratios);
  const exponent = computeExponent(samples);
  emit(
    `${largest} customers: ${describeSpread(ratios)} times the bare comparison (goal ${goal})${exponent === null ? '' : `, exponent ${exponent.toFixed(2)}`}`,
  );
  return { bench: 'diff', ratio, goal, ok: ratio <= goal, samples };
};
