import { Gate } from '../../src/client/pace.js';
import { toSpacingMs } from '../../src/client/shared-permits.js';
import { type AdaptiveRate, computeRate, lowerRate, startAdaptiveRate, toMarginMs } from '../../src/client/tempo.js';
import type { Clock } from '../../src/clock.js';
import { chunksAtOnce } from '../../src/runs/screening/chunk-search.js';
import { toChunkSize } from '../../src/runs/screening/fleet.js';
import { leaseTtlMs } from '../../src/runs/session.js';
import { makeSeededRandom } from '../helpers/figures.js';

// Nights of 100,000,000 customers on a clock that nobody waits for. Chunk sizes, spacing of permits, rates after refusals, outages and their
// probes are those of the program. Its claims and waves are SQL, and its permits wait on timers: here their rules are repeated, in steps.

const accountRates = [200, 400, 700, 1_000];
const accounts = 20;
const customers = 100_000_000 / accounts;
const controlsEvery = 10_000;
const controlSearches = 2;
const pricePerSearch = 0.02;
const latencyMs = 200;
const concurrency = 64;

const stepMs = 50;
// How often a worker without a chunk asks for one, and the process of a run looks whether a wave is done.
const claimEveryMs = 500;
const lookEveryMs = 250;
const restartMs = 30_000;
/** A permit that is not used for so long is void. */
const validMs = 20;

/** What happens in a night; times from its beginning. */
interface NightPlan {
  night: string;
  workers?: number;
  /** The share of calls that is answered with 503. */
  refusedShare?: number;
  outage?: { fromMs: number; lastsMs: number };
  /** The service accepts only this share of the rate meanwhile. */
  limit?: { fromMs: number; lastsMs: number; share: number };
  /** The mean time between two deaths of a worker of an account. */
  deathEveryMs?: number;
}

const minuteMs = 60_000;
const outage = { fromMs: 40 * minuteMs, lastsMs: 30 * minuteMs };
const limit = { fromMs: 15 * minuteMs, lastsMs: 120 * minuteMs, share: 0.5 };
const nights: readonly NightPlan[] = [
  { night: 'calm, one worker an account', workers: 1 },
  { night: 'calm' },
  { night: '5 % answered with 503', refusedShare: 0.05 },
  { night: 'no answers for 30 minutes', outage },
  { night: 'half of the rate is refused for 2 hours', limit },
  { night: 'a worker dies every 10 minutes', deathEveryMs: 10 * minuteMs },
  { night: 'all of these', refusedShare: 0.05, outage, limit, deathEveryMs: 10 * minuteMs },
];

/** A worker process of an account. */
interface Worker {
  gate: Gate;
  /** Searches that are left of each of its chunks; 0 for a free slot. */
  slots: number[];
  /** When it next asks for a chunk. */
  claimAtMs: number;
  startsAtMs: number;
}

const isWithin = (nowMs: number, span: { fromMs: number; lastsMs: number } | undefined): boolean =>
  span !== undefined && nowMs >= span.fromMs && nowMs < span.fromMs + span.lastsMs;

/** The night of one account. */
class AccountNight {
  nowMs = 0;
  /** Calls that left, those of them that the service bills, and those that it bills a second time. */
  calls = 0;
  billed = 0;
  again = 0;
  refusedForPace = 0;
  probes = 0;
  readonly #perSecond: number;
  readonly #plan: NightPlan;
  readonly #random: () => number;
  readonly #clock: Clock = {
    now: () => new Date(this.nowMs),
    elapsedMs: () => this.nowMs,
    sleep: async () => undefined,
  };
  readonly #workers: Worker[];
  #rate: AdaptiveRate;
  /** When a call left that is refused for pace, until its answer is here. */
  #refusedCallMs: number | null = null;
  #permits = 0;
  #unplanned = customers;
  #open: { searches: number; fromMs: number }[] = [];
  /** When the process of the run opens the next wave; null while a wave is searched. */
  #waveAtMs: number | null = 0;
  #deathAtMs: number;

  constructor(perSecond: number, plan: NightPlan, seed: number) {
    this.#perSecond = perSecond;
    this.#plan = plan;
    this.#random = makeSeededRandom(seed);
    this.#rate = startAdaptiveRate(perSecond);
    this.#workers = Array.from({ length: plan.workers ?? 4 }, () => this.#start(0));
    this.#deathAtMs = this.#drawDeath();
  }

  play(): this {
    while (this.#step()) this.nowMs += stepMs;
    return this;
  }

  /** False when all customers are searched. */
  #step(): boolean {
    if (!this.#goOn()) return false;
    if (this.nowMs >= this.#deathAtMs) this.#kill();
    if (this.#refusedCallMs !== null && this.nowMs >= this.#refusedCallMs + latencyMs) {
      this.#rate = lowerRate(this.#rate, this.#refusedCallMs, this.nowMs);
      this.#refusedCallMs = null;
    }
    const busy = this.#workers.filter((worker) => this.#claim(worker));
    const rate = computeRate(this.#rate, this.nowMs);
    const spacingMs = toSpacingMs(rate, toMarginMs(rate));
    this.#permits = Math.min(this.#permits, validMs / spacingMs) + stepMs / spacingMs;
    const able = busy.filter((worker) => this.#isAble(worker));
    for (const worker of able) {
      const calls = Math.min(this.#permits / able.length, (concurrency * stepMs) / latencyMs);
      this.#search(worker, calls);
    }
    const used = Math.min(this.#permits, (able.length * concurrency * stepMs) / latencyMs);
    this.#permits -= used;
    return true;
  }

  /** Opens the next wave when the one before is done, and its control searches are made. */
  #goOn(): boolean {
    const isDone = this.#open.length === 0 && this.#workers.every(({ slots }) => slots.every((left) => left === 0));
    if (!isDone) return true;
    if (this.#waveAtMs === null) {
      this.#waveAtMs = this.nowMs + this.#random() * lookEveryMs + controlSearches * latencyMs;
      this.#count(controlSearches);
    }
    if (isWithin(this.nowMs, this.#plan.outage) || this.nowMs < this.#waveAtMs) return true;
    if (this.#unplanned === 0) return false;
    this.#waveAtMs = null;
    const size = toChunkSize(this.#perSecond);
    for (let left = Math.min(controlsEvery, this.#unplanned); left > 0; left -= size) {
      this.#open.push({ searches: Math.min(size, left), fromMs: 0 });
    }
    this.#unplanned = Math.max(0, this.#unplanned - controlsEvery);
    return true;
  }

  /** Claims chunks for the free slots of a worker; true when it searches any. */
  #claim(worker: Worker): boolean {
    if (this.nowMs < worker.startsAtMs) return false;
    for (const [place, left] of worker.slots.entries()) {
      if (left > 0 || this.nowMs < worker.claimAtMs) continue;
      const next = this.#open.findIndex(({ fromMs }) => fromMs <= this.nowMs);
      const [chunk] = next < 0 ? [] : this.#open.splice(next, 1);
      if (chunk) worker.slots[place] = chunk.searches;
      else worker.claimAtMs = this.nowMs + claimEveryMs;
    }
    return worker.slots.some((left) => left > 0);
  }

  /** Whether the calls of a worker leave: during an outage only its probe does. */
  #isAble({ gate }: Worker): boolean {
    if (!gate.isOutage) return true;
    if (gate.probeWaitMs > 0) return false;
    gate.startProbe();
    this.probes += 1;
    gate.endProbe(isWithin(this.nowMs, this.#plan.outage) ? 'out_of_reach' : 'there');
    return !gate.isOutage;
  }

  #search(worker: Worker, calls: number): void {
    const { refusedShare = 0, outage: away, limit: bound } = this.#plan;
    if (isWithin(this.nowMs, away)) {
      for (let call = 0; call < calls; call += 1) worker.gate.note('out_of_reach');
      this.calls += calls;
      return;
    }
    worker.gate.note('there');
    // More than the service accepts is refused with 429.
    const rate = computeRate(this.#rate, this.nowMs);
    const accepted = isWithin(this.nowMs, bound) ? Math.min(1, ((bound?.share ?? 1) * this.#perSecond) / rate) : 1;
    if (accepted < 1) {
      this.#refusedCallMs ??= this.nowMs;
      this.refusedForPace += calls * (1 - accepted);
    }
    let answers = calls * accepted * (1 - refusedShare);
    this.calls += calls * (1 - accepted * (1 - refusedShare));
    for (const [place, left] of worker.slots.entries()) {
      const done = Math.min(left, answers);
      answers -= done;
      this.#count(done);
      // A remainder below one call is an error of the steps.
      worker.slots[place] = left - done < 1e-6 ? 0 : left - done;
    }
  }

  #count(answers: number): void {
    this.calls += answers;
    this.billed += answers;
  }

  /** Ends a worker: its chunks are free when its lease has expired, and its calls in flight and of its last tenth of a second are made again. */
  #kill(): void {
    const place = Math.floor(this.#random() * this.#workers.length);
    const worker = this.#workers[place];
    this.#deathAtMs = this.nowMs + this.#drawDeath();
    if (worker === undefined || this.nowMs < worker.startsAtMs) return;
    const fromMs = this.nowMs + leaseTtlMs - this.#random() * 1_000;
    const left = worker.slots.filter((searches) => searches > 0);
    if (left.length > 0 && !worker.gate.isOutage) {
      const perSecond = computeRate(this.#rate, this.nowMs) / this.#workers.length;
      const lost = Math.min(concurrency, (perSecond * latencyMs) / 1_000) + perSecond / 10;
      this.again += lost;
      this.#count(lost);
    }
    this.#open.unshift(...left.map((searches) => ({ searches, fromMs })));
    this.#workers[place] = this.#start(this.nowMs + restartMs);
  }

  #start(startsAtMs: number): Worker {
    return { gate: new Gate(this.#clock), slots: Array(chunksAtOnce).fill(0), claimAtMs: 0, startsAtMs };
  }

  #drawDeath(): number {
    const { deathEveryMs = Number.POSITIVE_INFINITY } = this.#plan;
    return deathEveryMs * -Math.log(1 - this.#random());
  }
}

const toHours = (ms: number): string => {
  const minutes = Math.round(ms / minuteMs);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const count = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

const columns = [
  'night',
  ...accountRates.map((rate) => `h at ${rate}/s`),
  'calls',
  '429',
  'probes',
  'billed again',
  'cost, EUR',
];
const lines = [columns, columns.map(() => '---')];
for (const plan of nights) {
  const played = Array.from({ length: accounts }, (_, place) =>
    new AccountNight(accountRates[place % accountRates.length] ?? 1, plan, place * 7 + 1).play(),
  );
  const longest = accountRates.map((_, of) =>
    Math.max(...played.filter((_night, place) => place % accountRates.length === of).map(({ nowMs }) => nowMs)),
  );
  lines.push([
    plan.night,
    ...longest.map(toHours),
    count.format(sum(played.map(({ calls }) => calls))),
    count.format(sum(played.map(({ refusedForPace }) => refusedForPace))),
    count.format(sum(played.map(({ probes }) => probes))),
    count.format(sum(played.map(({ again }) => again))),
    count.format(sum(played.map(({ billed }) => billed)) * pricePerSearch),
  ]);
}
process.stdout.write(lines.map((cells) => `| ${cells.join(' | ')} |\n`).join(''));
