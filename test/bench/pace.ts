import { computeUsedRate } from '../helpers/figures.js';
import { type Bench, describeSpread } from './bench.js';

/** The least share of the permitted rate that a whole command must use while 5 % of its calls are refused with 503. */
const goal = 0.99;
const refusedShare = 0.05;
const rates = [10, 100, 1_000];

/** Windows of a second, one from each arrival on, that hold more than so many. */
function countWindowsAbove(arrivedMs: readonly number[], perSecond: number): number {
  return arrivedMs.filter((atMs, index) => (arrivedMs[index + perSecond] ?? Number.POSITIVE_INFINITY) - atMs < 1_000)
    .length;
}

/** How much of the permitted rate `rescreen` uses, and whether a sliding second ever holds more; counted where calls arrive. */
export const benchPace: Bench = async ({ ground, emit, rounds, isQuick }) => {
  ground.stub.order({ refusedShare });
  const samples: { perSecond: number; used: number; windowsAbove: number; gapMs: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const perSecond of isQuick ? [100] : rates) {
      const seconds = isQuick ? 3 : perSecond === 10 ? 20 : 15;
      const site = await ground.openSite('postgres', perSecond * seconds, { perSecond });
      await ground.stub.report();
      await site.rescreen();
      const { arrivedMs, gapMs } = await ground.stub.report();
      // Repeats go on for a while after the last customer; up to here there is always one left.
      const endMs = (arrivedMs[0] ?? 0) + seconds * 1_000;
      const used = computeUsedRate(
        arrivedMs.filter((atMs) => atMs < endMs),
        perSecond,
      );
      const sample = { perSecond, used, windowsAbove: countWindowsAbove(arrivedMs, perSecond), gapMs };
      samples.push(sample);
      emit(
        `${perSecond}/s: ${(used * 100).toFixed(2)} % used, ${sample.windowsAbove} of ${arrivedMs.length} windows above it (the stub read nothing for up to ${gapMs.toFixed(0)} ms)`,
      );
      await ground.closeSite(site);
    }
  }
  ground.stub.order({ refusedShare: 0 });
  const used = samples.map((sample) => sample.used);
  emit(`share used: ${describeSpread(used, 4)} (goal ${goal})`);
  const ratio = Math.min(...used);
  return {
    bench: 'pace',
    ratio,
    goal,
    ok: ratio >= goal && samples.every((each) => each.windowsAbove === 0),
    samples,
  };
};
