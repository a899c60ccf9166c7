/** One call; `number` is one that no other call of its side has. */
export type Call = (number: number) => Promise<unknown>;

/** What a side's calls of a round came to; `cpuMicros` is the time of this process's CPU, all threads, for one call. */
export interface Pace {
  perSecond: number;
  cpuMicros: number;
}

/** How a round is measured: both sides in turn, `slices` times `sliceMs` each, `concurrency` calls at a time. */
export interface RoundSettings {
  concurrency: number;
  slices: number;
  sliceMs: number;
}

class Meter {
  readonly #call: Call;
  #calls = 0;
  #spanMs = 0;
  #cpuMicros = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  async runSlice({ concurrency, sliceMs }: RoundSettings): Promise<void> {
    const begunMs = performance.now();
    const cpuBefore = process.cpuUsage();
    const work = async (): Promise<void> => {
      while (performance.now() - begunMs < sliceMs) {
        this.#calls += 1;
        await this.#call(this.#calls);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    this.#spanMs += performance.now() - begunMs;
    const { user, system } = process.cpuUsage(cpuBefore);
    this.#cpuMicros += user + system;
  }

  read(): Pace {
    return { perSecond: (this.#calls / this.#spanMs) * 1_000, cpuMicros: this.#cpuMicros / this.#calls };
  }
}

/** Measures two sides in short turns, so that what else the machine does in that time meets both alike. */
export async function measureRound(one: Call, other: Call, settings: RoundSettings): Promise<[Pace, Pace]> {
  const meters = [new Meter(one), new Meter(other)] as const;
  for (let slice = 0; slice < settings.slices; slice += 1) {
    for (const meter of slice % 2 === 0 ? meters : meters.toReversed()) await meter.runSlice(settings);
  }
  return [meters[0].read(), meters[1].read()];
}
