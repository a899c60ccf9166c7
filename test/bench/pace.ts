import { setTimeout as delay } from 'node:timers/promises';
import { computeUsedRate, countBusiestSecond } from '../helpers/figures.js';
import { type PaceService, runPaceClient, startPaceService } from '../helpers/pace-processes.js';
import type { Bench } from './bench.js';

/** The least share of the configured rate that must be used while the service is healthy. */
const goal = 0.99;

type Emit = (line: string) => void;

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

/** How much of a rate is used with a healthy service, and whether a sliding second ever holds more. */
const measureRate = async (service: PaceService, perSecond: number, seconds: number, emit: Emit) => {
  const order = { url: service.url, perSecond, concurrency: 64, callers: 200, searches: perSecond * seconds };
  const { sentMs } = await runPaceClient(order);
  const arrivedMs = (await service.report()).calls.map(({ atMs }) => atMs);
  const sample = {
    perSecond,
    used: computeUsedRate(sentMs, perSecond),
    busiestSent: countBusiestSecond(sentMs),
    busiestArrived: countBusiestSecond(arrivedMs),
  };
  emit(
    `${perSecond}/s healthy: ${percent(sample.used)} used, busiest second ${sample.busiestSent} sent, ${sample.busiestArrived} arrived`,
  );
  return sample;
};

/** 20,000 searches, a share of which is refused: what a search costs, and whether a sliding second ever holds more. */
const measureRetries = async (service: PaceService, refusedShare: number, emit: Emit) => {
  const perSecond = 1_000;
  const searches = 20_000;
  service.order({ refusedShare });
  const order = { url: service.url, perSecond, concurrency: 64, callers: 1_000, searches };
  const { sentMs, attempts, failed } = await runPaceClient(order);
  const busiestSent = countBusiestSecond(sentMs);
  const arrived = (await service.report()).calls.length;
  service.order({ refusedShare: 0 });
  emit(
    `${searches} searches, ${percent(refusedShare)} refused with 503: ${(attempts / searches).toFixed(3)} calls each, ${failed} left for later, busiest second ${busiestSent} of ${perSecond}, service counted ${arrived} of ${attempts}`,
  );
  return { refusedShare, callsPerSearch: attempts / searches, failed, busiestSent, isCountTrue: arrived === attempts };
};

/** A hidden limit for a while: the share of refusals after its first 30 seconds, and when 90 % of it were first reached in a second. */
const holdLimit = async (service: PaceService, hiddenLimit: number, seconds: number, emit: Emit) => {
  service.order({ hiddenLimit });
  const sinceMs = performance.now();
  const calls: { second: number; status: number }[] = [];
  for (let second = 0; second < seconds; second += 1) {
    await delay(Math.max(0, sinceMs + (second + 1) * 1_000 - performance.now()));
    calls.push(...(await service.report()).calls.map(({ status }) => ({ second, status })));
  }
  const late = calls.filter(({ second }) => second >= 30);
  const refused = late.filter(({ status }) => status === 429).length / late.length;
  const countAccepted = (wanted: number): number =>
    calls.filter(({ second, status }) => second === wanted && status === 201).length;
  const backAfter = Array.from({ length: seconds }, (_, second) => second).find(
    (second) => countAccepted(second) >= 0.9 * hiddenLimit,
  );
  emit(
    `hidden limit ${hiddenLimit}/s: ${percent(refused)} refused after 30 s, 90 % reached in second ${backAfter ?? 'never'}`,
  );
  return { hiddenLimit, refused, backAfterSeconds: backAfter ?? null };
};

const measureAdaption = async (service: PaceService, emit: Emit) => {
  const going = runPaceClient({ url: service.url, perSecond: 100, concurrency: 16, callers: 32, seconds: 275 });
  const limits = [
    await holdLimit(service, 50, 90, emit),
    await holdLimit(service, 10, 90, emit),
    await holdLimit(service, 50, 90, emit),
  ];
  const { failed } = await going;
  return { limits, failed };
};

/** The client's pace beside what was configured: how much of it is used, what retries cost, how it follows a hidden limit. */
export const benchPace: Bench = async (emit) => {
  const service = await startPaceService();
  try {
    const rates = [];
    for (const [perSecond, seconds] of [
      [10, 20],
      [100, 20],
      [200, 20],
      [500, 20],
      [2_000, 10],
    ] as const) {
      rates.push(await measureRate(service, perSecond, seconds, emit));
    }
    const retries = [await measureRetries(service, 0.1, emit), await measureRetries(service, 0.3, emit)];
    const adaption = await measureAdaption(service, emit);
    // Above 500 a second the machine itself is measured; the figure is shown and not judged.
    const assessed = rates.filter(({ perSecond }) => perSecond <= 500);
    const ratio = Math.min(...assessed.map(({ used }) => used));
    const [few, many] = retries;
    const isKept =
      rates.every(({ perSecond, busiestSent }) => busiestSent <= perSecond) &&
      retries.every(({ busiestSent, isCountTrue }) => busiestSent <= 1_000 && isCountTrue) &&
      (few?.callsPerSearch ?? 9) <= 1.15 &&
      (many?.callsPerSearch ?? 9) <= 1.5 &&
      adaption.limits.every(({ refused }) => refused <= 0.01) &&
      (adaption.limits.at(-1)?.backAfterSeconds ?? 99) <= 60;
    emit(`least used of a healthy rate up to 500/s: ${percent(ratio)} (goal ${percent(goal)})`);
    return { bench: 'pace', ratio, goal, ok: isKept && ratio >= goal, samples: [...rates, ...retries, adaption] };
  } finally {
    service.close();
  }
};
