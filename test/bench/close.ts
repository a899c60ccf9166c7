import { type Bench, computeExponent, describeSpread, median } from './bench.js';

/** The most seconds from the last search to the end of a run of a million customers. */
const goals = { first: 92, unchanged: 73 };
const million = 1_000_000;

/** How long runs take to close after their last search: first nights and nights in which nothing changed, taken to a million customers. */
export const benchClose: Bench = async ({ ground, emit, sizes, rounds }) => {
  const samples: { night: keyof typeof goals; customers: number; seconds: number }[] = [];
  for (const customers of sizes) {
    for (let round = 0; round < rounds; round += 1) {
      const site = await ground.openSite('postgres', customers);
      for (const night of ['first', 'unchanged'] as const) {
        const seconds = (await site.rescreen()).stages['close'];
        if (seconds === undefined) throw new Error('the log does not tell when the run was closed');
        samples.push({ night, customers, seconds });
        emit(`${night} night, ${customers} customers: closed in ${seconds.toFixed(2)} s`);
      }
      await ground.closeSite(site);
    }
  }
  const largest = Math.max(...sizes);
  const shares = (['first', 'unchanged'] as const).map((night) => {
    const own = samples.filter((sample) => sample.night === night);
    const spans = own.filter(({ customers }) => customers === largest).map(({ seconds }) => seconds);
    const exponent = computeExponent(own);
    emit(
      `${night} night, ${largest} customers: ${describeSpread(spans)} s${exponent === null ? '' : `, exponent ${exponent.toFixed(2)}`} (goal ${goals[night]} s for a million)`,
    );
    return (median(spans) * (million / largest)) / goals[night];
  });
  const ratio = Math.max(...shares);
  return { bench: 'close', ratio, goal: 1, ok: ratio <= 1, samples };
};
