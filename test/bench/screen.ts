import {
  type Bench,
  type BenchResult,
  computeExponent,
  type Dialect,
  describeSpread,
  type Ground,
  median,
  type Night,
} from './bench.js';

/** The shares of the bare loop's pace that whole commands are to reach. */
const goals = {
  screen: { postgres: 0.06, embedded: 0.045 },
  rescreen: { postgres: 0.14, embedded: 0.09 },
};
const dialects = ['postgres', 'embedded'] as const;

type Sample = Night & { dialect: Dialect; barePerSecond: number; ratio: number };

/** A night's customers per second, whole command, beside the bare loop before and after it. */
async function measureNight(
  ground: Ground,
  dialect: Dialect,
  customers: number,
  play: () => Promise<Night>,
): Promise<Sample> {
  const searches = Math.min(customers, 30_000);
  const before = await ground.measureBare(searches);
  const night = await play();
  const barePerSecond = (before + (await ground.measureBare(searches))) / 2;
  return { dialect, ...night, barePerSecond, ratio: customers / night.seconds / barePerSecond };
}

function assess(bench: keyof typeof goals, samples: readonly Sample[], emit: (line: string) => void): BenchResult {
  const largest = Math.max(...samples.map(({ customers }) => customers));
  const assessed = dialects.flatMap((dialect) => {
    const own = samples.filter((sample) => sample.dialect === dialect);
    if (own.length === 0) return [];
    const ratios = own.filter(({ customers }) => customers === largest).map(({ ratio }) => ratio);
    const goal = goals[bench][dialect];
    const exponent = computeExponent(own);
    emit(
      `${dialect}, ${largest} customers: ${describeSpread(ratios)} of the bare loop (goal ${goal})${exponent === null ? '' : `, exponent ${exponent.toFixed(2)}`}`,
    );
    return { ratio: median(ratios), goal };
  });
  const [worst = { ratio: 0, goal: 1 }] = assessed.toSorted(
    (one, other) => one.ratio / one.goal - other.ratio / other.goal,
  );
  return { bench, ...worst, ok: worst.ratio >= worst.goal, samples };
}

const describe = ({
  dialect,
  customers,
  seconds,
  cpuSeconds,
  peakBytes,
  barePerSecond,
  ratio,
  stages,
}: Sample): string =>
  `${dialect}, ${customers} customers: ${(customers / seconds).toFixed(0)}/s, ${((cpuSeconds * 1e6) / customers).toFixed(0)} us CPU each, at most ${(peakBytes / 1_048_576).toFixed(0)} MB | bare ${barePerSecond.toFixed(0)}/s | ${ratio.toFixed(3)} (${Object.entries(
    stages,
  )
    .map(([stage, span]) => `${stage} ${span.toFixed(1)} s`)
    .join(', ')})`;

/** First nights: each of a new roster in a new database. */
export const benchScreen: Bench = async ({ ground, emit, sizes, rounds, isQuick }) => {
  const samples: Sample[] = [];
  for (const customers of sizes) {
    for (let round = 0; round < rounds; round += 1) {
      // The small form of `rescreen` makes a first night on the embedded database as well.
      for (const dialect of isQuick ? (['postgres'] as const) : dialects) {
        const site = await ground.openSite(dialect, customers);
        const sample = await measureNight(ground, dialect, customers, () => site.rescreen());
        samples.push(sample);
        emit(describe(sample));
        await ground.closeSite(site);
      }
    }
  }
  return assess('screen', samples, emit);
};

/** Nights in which nothing changed, after a first one that is not measured. */
export const benchRescreen: Bench = async ({ ground, emit, sizes, rounds, isQuick }) => {
  const samples: Sample[] = [];
  for (const customers of sizes) {
    const sites = [];
    // The small form of `close` makes both nights on Postgres.
    for (const dialect of isQuick ? (['embedded'] as const) : dialects) {
      const site = await ground.openSite(dialect, customers);
      await site.rescreen();
      sites.push({ dialect, site });
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { dialect, site } of sites) {
        const sample = await measureNight(ground, dialect, customers, () => site.rescreen());
        samples.push(sample);
        emit(describe(sample));
      }
    }
    for (const { site } of sites) await ground.closeSite(site);
  }
  return assess('rescreen', samples, emit);
};
