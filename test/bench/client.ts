// The compiled package, because that is what users run: tsx renames every inner function at run time, which costs the client 10 to 20 %.
import { type Attempt, createClient } from 'nightscreen';
import { apiKey, type CallRate, concurrency, fullRate, measureCalls } from './bare.js';
import { type Bench, describeSpread, median } from './bench.js';

const goal = 0.65;

const toName = (number: number): string => `Customer Number ${number}`;
const describeRate = ({ perSecond, cpuMicros }: CallRate): string =>
  `${perSecond.toFixed(0).padStart(6)}/s ${cpuMicros.toFixed(1).padStart(6)} us CPU a call`;

/** Searches of the client as a run makes them (validated, told to a ledger, limited to 100,000/s) beside a bare validated loop. */
export const benchClient: Bench = async ({ ground, emit, rounds, isQuick }) => {
  const calls = isQuick ? 2_000 : 30_000;
  const { stub, bare } = ground;
  const client = createClient({ baseUrl: stub.url, apiKey, rate: { perSecond: fullRate, concurrency } });
  let ended = 0;
  const observer = {
    ended: ({ operation }: Attempt): void => {
      if (operation === 'aml.search') ended += 1;
    },
  };
  const searchByClient = (number: number): Promise<unknown> =>
    client.aml.search({ type: 'person', name: toName(number) }, { observer });
  await stub.report();
  bare.searches = 0;
  const samples: { ratio: number; client: CallRate; bare: CallRate }[] = [];
  let isLedgerTrue = false;
  try {
    // Round 0 only warms both up. The limiter begins a tenth slower after it was idle, so each turn is long.
    for (let round = 0; round <= (isQuick ? 1 : rounds * 3); round += 1) {
      const measureClient = (): Promise<CallRate> => measureCalls(calls, searchByClient);
      const measureBare = (): Promise<CallRate> => measureCalls(calls, (number) => bare.search(toName(number)));
      const isClientFirst = round % 2 === 0;
      const first = await (isClientFirst ? measureClient() : measureBare());
      const second = await (isClientFirst ? measureBare() : measureClient());
      if (round === 0) continue;
      const sides = isClientFirst ? { client: first, bare: second } : { client: second, bare: first };
      const ratio = sides.client.perSecond / sides.bare.perSecond;
      samples.push({ ratio, ...sides });
      emit(
        `round ${round}: client ${describeRate(sides.client)} | bare ${describeRate(sides.bare)} | ${ratio.toFixed(2)}`,
      );
    }
    const counted = (await stub.report()).searches - bare.searches;
    isLedgerTrue = counted === ended;
    emit(`ledger: ${ended} searches, counted by the service: ${counted}`);
  } finally {
    await client.close();
  }
  const ratios = samples.map((sample) => sample.ratio);
  const ratio = median(ratios);
  emit(`client over bare: ${describeSpread(ratios)} (goal ${goal})`);
  return { bench: 'client', ratio, goal, ok: ratio >= goal && isLedgerTrue, samples };
};
