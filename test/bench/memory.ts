import { type Bench, describeSpread, median } from './bench.js';

/** Ten times the customers may take this many times the memory, and no more bytes. */
const goal = 1.05;
const mostBytes = 200 * 1_024 * 1_024;
const toMegabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);

/** The most memory of whole commands, reports included, beside that of a roster a tenth as large: first nights and unchanged ones. */
export const benchMemory: Bench = async ({ ground, emit, sizes, rounds }) => {
  const customers = Math.max(...sizes);
  const samples: { night: string; customers: number; peakBytes: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const size of [customers / 10, customers]) {
      const site = await ground.openSite('postgres', size);
      for (const night of ['first', 'unchanged']) {
        const { peakBytes } = await site.rescreen();
        samples.push({ night, customers: size, peakBytes });
        emit(`${night} night, ${size} customers: at most ${toMegabytes(peakBytes)} MB`);
      }
      await ground.closeSite(site);
    }
  }
  const ratios = ['first', 'unchanged'].map((night) => {
    const peak = (size: number): number[] =>
      samples.filter((sample) => sample.night === night && sample.customers === size).map((each) => each.peakBytes);
    const [small, large] = [peak(customers / 10), peak(customers)];
    const times = median(large) / median(small);
    emit(
      `${night} night: ${describeSpread(
        large.map((bytes) => bytes / 1_048_576),
        0,
      )} MB, ${times.toFixed(2)} times that of a tenth of the customers (goal ${goal} and ${toMegabytes(mostBytes)} MB)`,
    );
    return times;
  });
  const ratio = Math.max(...ratios);
  const peakBytes = Math.max(...samples.map((sample) => sample.peakBytes));
  return { bench: 'memory', ratio, goal, ok: ratio <= goal && peakBytes <= mostBytes, samples };
};
