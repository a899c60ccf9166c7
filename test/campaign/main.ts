import { parseArgs } from 'node:util';
import { batchLimits } from '../../src/runs/screening/search-many.js';
import { compileCli } from '../helpers/cli-process.js';
import { makeSeededRandom } from '../helpers/figures.js';
import { runCrashTrial, runDisturbedTrial } from './crash-trials.js';
import type { LedgerFigures } from './end-state.js';
import { dumpCalmNight, mishaps, runFleetTrial, runMishap } from './fleet-trials.js';
import { runOutageTrial, runPauseTrial, runStartsTrial } from './rival-trials.js';
import { type Locate, Nursery, openPlaces, type Places } from './site.js';

const concurrency = 8;

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string', default: '' },
    talk: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const isLong = !values.short;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** One part of the campaign: its figures in words, and what broke a promise. */
interface Verdict {
  figures: string;
  broken: readonly string[];
}

const nursery = new Nursery();

const assessLedger = ({ noted, calls, unknown, wrong }: LedgerFigures): Verdict => ({
  figures: `ledger ${noted} (${unknown} unknown) for ${calls} calls`,
  broken: [...wrong, ...(noted < calls ? [`the ledger is short: ${noted} of ${calls} calls`] : [])],
});

const unless = (isKept: boolean, message: string): readonly string[] => (isKept ? [] : [message]);

async function crash(locate: Locate, dialect: 'embedded' | 'postgres'): Promise<Verdict> {
  const figures = await runCrashTrial(nursery, {
    locate,
    customers: isLong ? 5_000 : 300,
    rate: { perSecond: 400, concurrency },
    points: isLong || dialect === 'postgres' ? 'all' : 'commits',
    randomKills: isLong ? 200 : 2,
    random: makeSeededRandom(seed),
    emit: (line) => values.talk && say(`  ${line}`),
  });
  const { kills, lost, twice, repeated, mostRepeated, differences } = figures;
  const ledger = assessLedger(figures.ledger);
  return {
    figures: `${kills} kills: ${lost} lost, ${twice} twice, ${repeated} searches repeated, at most ${mostRepeated} a crash, ${ledger.figures}`,
    broken: [
      ...ledger.broken,
      ...differences,
      ...unless(lost === 0, `${lost} customers lost`),
      ...unless(twice === 0, `${twice} changes twice`),
      ...unless(mostRepeated <= concurrency + batchLimits.maxItems, `${mostRepeated} repeated after one crash`),
    ],
  };
}

async function starts(locate: Locate): Promise<Verdict> {
  const count = isLong ? 50 : 8;
  const { ran, refused, slowestMs, others, surplus } = await runStartsTrial(nursery, locate, count);
  return {
    figures: `${count} starts at once: ${ran} ran, ${refused} were told who holds it, the slowest after ${seconds(slowestMs)}`,
    broken: [
      ...others,
      ...unless(ran === 1 && refused === count - 1, `${ran} ran and ${refused} were refused`),
      ...unless(surplus === 0, `${surplus} searches too many`),
    ],
  };
}

async function pause(locate: Locate): Promise<Verdict> {
  const { takeoverMs, sleeperSaid, lateBatches, repeated, differences, ...others } = await runPauseTrial(
    nursery,
    locate,
  );
  const ledger = assessLedger(others.ledger);
  return {
    figures: `SIGSTOP past the lease: taken over after ${seconds(takeoverMs)}, ${repeated} searches repeated, the sleeper said "${sleeperSaid}", ${ledger.figures}`,
    broken: [
      ...ledger.broken,
      ...differences,
      ...unless(takeoverMs <= 10_000, `taken over only after ${seconds(takeoverMs)}`),
      ...unless(lateBatches === 0, `${lateBatches} batches of the sleeper after the takeover`),
    ],
  };
}

async function outages(locate: Locate): Promise<Verdict> {
  const figures = await runOutageTrial(nursery, locate, isLong ? 1_000 : 200);
  const ledger = assessLedger(figures.ledger);
  return {
    figures: `${figures.outages} outages and ${figures.kills} kills: ${figures.surplus} calls beyond one a customer, ${ledger.figures}`,
    broken: [...ledger.broken, ...figures.differences],
  };
}

async function disturb(locate: Locate): Promise<Verdict> {
  const times = 100;
  const { disturbances, lost, twice, repeated, mostRepeated, inFlight, exits, ledger } = await runDisturbedTrial(
    nursery,
    {
      locate,
      customers: 20_000,
      rate: { perSecond: 400, concurrency },
      times,
      random: makeSeededRandom(seed),
      emit: (line) => values.talk && say(`  ${line}`),
    },
  );
  return {
    figures: `${disturbances} times: ${lost} lost, ${twice} twice, ${repeated} searches repeated (at most ${mostRepeated} each time) for ${inFlight} without an answer, ${exits.length} exits, ${assessLedger(ledger).figures}`,
    broken: [
      ...assessLedger(ledger).broken,
      ...exits,
      ...unless(disturbances === times, `only ${disturbances} took place`),
      ...unless(lost === 0, `${lost} customers lost`),
      ...unless(twice === 0, `${twice} recorded twice`),
      ...unless(mostRepeated <= concurrency + batchLimits.maxItems, `${mostRepeated} repeated after one`),
    ],
  };
}

/** What no night of workers may break, whatever happens in it. */
function assessFleet(figures: Awaited<ReturnType<typeof runMishap>>, perSecond: number): Verdict {
  const { lost, twice, repeated, takenOver, gap, busiest, exits, differences } = figures;
  const ledger = assessLedger(figures.ledger);
  return {
    figures: `${figures.found && `${figures.found}, `}in ${figures.seconds.toFixed(0)} s: ${lost} lost, ${twice} twice, ${repeated} searches repeated, ${takenOver} chunks taken over, ${gap.toFixed(1)} s without a call, at most ${busiest} of ${perSecond} a second, ${ledger.figures}`,
    broken: [
      ...ledger.broken,
      ...differences,
      ...exits,
      ...unless(lost === 0, `${lost} customers lost`),
      ...unless(twice === 0, `${twice} changes twice`),
      ...unless(busiest <= perSecond, `${busiest} calls in a second`),
    ],
  };
}

// A batch is what is answered in 100 ms, and in the save before it.
const mostAWorker = concurrency + 50;

async function workers(locate: Locate): Promise<Verdict> {
  const place = {
    nursery,
    locate,
    workers: 3,
    customers: isLong ? 20_000 : 2_000,
    rate: { perSecond: isLong ? 200 : 100, concurrency },
  };
  const figures = await runFleetTrial(place, await dumpCalmNight(place), {
    times: isLong ? 50 : 6,
    random: makeSeededRandom(seed),
    emit: (line) => values.talk && say(`  ${line}`),
  });
  const { kills, repeated } = figures;
  const { figures: words, broken } = assessFleet(figures, place.rate.perSecond);
  // A new process of the run takes the chunks from all workers.
  const most = (kills.worker + kills.freeze + kills.connection + kills.coordinator * place.workers) * mostAWorker;
  return {
    figures: `${kills.worker} kills of workers, ${kills.freeze} frozen for 12 s, ${kills.coordinator} kills of the run, ${kills.connection} of connections ${words}`,
    broken: [...broken, ...unless(repeated <= most, `${repeated} searches repeated, more than ${most}`)],
  };
}

let calmNight: ReturnType<typeof dumpCalmNight> | undefined;

async function mishap(places: Places, happen: (typeof mishaps)[string]): Promise<Verdict> {
  const place = {
    nursery,
    locate: places.postgres,
    workers: 4,
    customers: isLong ? 1_000 : 500,
    rate: { perSecond: 50, concurrency },
  };
  calmNight ??= dumpCalmNight(place);
  const figures = await runMishap(place, await calmNight, happen, places);
  const { figures: words, broken } = assessFleet(figures, place.rate.perSecond);
  const most = place.workers * mostAWorker;
  return {
    figures: words,
    broken: [
      ...broken,
      ...unless(figures.repeated <= most, `${figures.repeated} searches repeated, more than ${most}`),
    ],
  };
}

function listTrials(places: Places): readonly (readonly [string, () => Promise<Verdict>])[] {
  const { embedded, postgres } = places;
  const happenings = isLong ? Object.entries(mishaps) : [];
  return [
    ['crash embedded', () => crash(embedded, 'embedded')],
    ['starts embedded', () => starts(embedded)],
    ['workers postgres', () => workers(postgres)],
    ...happenings.map(([name, happen]) => [`mishap: ${name}`, () => mishap(places, happen)] as const),
    // A short form of these is kill-points.test.ts and kill-rivals.test.ts of test/long.
    ...(isLong
      ? ([
          ['crash postgres', () => crash(postgres, 'postgres')],
          ['starts postgres', () => starts(postgres)],
          ['pause postgres', () => pause(postgres)],
          ['outages postgres', () => outages(postgres)],
          ['outages embedded', () => outages(embedded)],
          ['ended connections', () => disturb(postgres)],
        ] as const)
      : []),
  ];
}

say(`campaign: seed ${seed}, ${isLong ? 'long' : 'short'} (again: --seed ${seed})`);
const cli = await compileCli();
const places = await openPlaces();
let passed = 0;
let failed = 0;
for (const [name, trial] of listTrials(places)) {
  if (!name.includes(values.only)) continue;
  const begunMs = performance.now();
  const { figures, broken } = await trial().catch(
    (error: unknown): Verdict => ({
      figures: 'broke off',
      broken: [error instanceof Error ? error.message : String(error)],
    }),
  );
  if (broken.length === 0) passed += 1;
  else failed += 1;
  say(`${broken.length === 0 ? 'kept' : 'BROKEN'} ${name} (${seconds(performance.now() - begunMs)}): ${figures}`);
  for (const line of broken.slice(0, 10)) say(`  ${line}`);
}
await nursery.close();
await cli.remove();
await places.close();
if (passed + failed === 0) say(`no trial is called ${values.only}`);
say(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
