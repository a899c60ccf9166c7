// The compiled package, because that is what users run: tsx renames every inner function at run time, which costs the client 10 to 20 %.
import { type Attempt, type AttemptEnd, createClient } from 'nightscreen';
import { Agent, request } from 'undici';
import { unpaced } from '../../src/client/pace.js';
import type { Bench } from './bench.js';
import { measureRound, type Pace } from './measure-round.js';
import { median } from './median.js';
import { startStub } from './start-stub.js';

const goal = 0.8;
const rounds = 9;
// One second for each side.
const roundSettings = { concurrency: 8, slices: 10, sliceMs: 100 };
const apiKey = 'private_sandbox_benchBenchBenchBench';

const toName = (number: number): string => `Customer Number ${number}`;

/** Our client as a run uses it: answers validated, every attempt reported to a ledger; only the limiter is off. */
const createClientCaller = (baseUrl: string) => {
  const page: { attempt: Attempt; end: AttemptEnd }[] = [];
  const client = createClient({ baseUrl, apiKey, pace: unpaced() });
  let searches = 0;
  const observer = {
    ended: (attempt: Attempt, end: AttemptEnd): void => {
      if (attempt.operation === 'aml.search') searches += 1;
      page.push({ attempt, end });
      if (page.length === 1_000) page.length = 0;
    },
  };
  return {
    call: (number: number) => client.aml.search({ type: 'person', name: toName(number) }, { observer }),
    countSearches: () => searches,
    close: () => client.close(),
  };
};

/** The least that any client must do: send, read, parse. */
const createBareCaller = (baseUrl: string) => {
  const dispatcher = new Agent();
  const headers = {
    authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
    'content-type': 'application/json',
  };
  let searches = 0;
  return {
    call: async (number: number): Promise<unknown> => {
      searches += 1;
      const body = JSON.stringify({ type: 'person', name: toName(number) });
      const answer = await request(`${baseUrl}/aml/search`, { method: 'POST', headers, body, dispatcher });
      return answer.body.json();
    },
    countSearches: () => searches,
    close: () => dispatcher.close(),
  };
};

interface Sample {
  client: Pace;
  bare: Pace;
}

const describePace = ({ perSecond, cpuMicros }: Pace): string =>
  `${perSecond.toFixed(0).padStart(6)}/s ${cpuMicros.toFixed(1).padStart(6)} us CPU a call`;

const describeSample = ({ client, bare }: Sample): string =>
  `client ${describePace(client)} | bare ${describePace(bare)} | ${(client.perSecond / bare.perSecond).toFixed(2)}`;

const toMedian = (paces: readonly Pace[]): Pace => ({
  perSecond: median(paces.map(({ perSecond }) => perSecond)),
  cpuMicros: median(paces.map(({ cpuMicros }) => cpuMicros)),
});

/** Searches per second of the client beside a bare loop over the same library, against the same stub in another process. */
export const benchClient: Bench = async (emit) => {
  const stub = await startStub();
  const client = createClientCaller(stub.url);
  const bare = createBareCaller(stub.url);
  const samples: Sample[] = [];
  let isLedgerTrue = false;
  try {
    // The first round only warms both up.
    await measureRound(client.call, bare.call, roundSettings);
    for (let round = 1; round <= rounds; round += 1) {
      const [clientPace, barePace] = await measureRound(client.call, bare.call, roundSettings);
      const sample = { client: clientPace, bare: barePace };
      samples.push(sample);
      emit(`round ${round}: ${describeSample(sample)}`);
    }
    const counted = (await stub.countSearches()) - bare.countSearches();
    isLedgerTrue = counted === client.countSearches();
    emit(`ledger: ${client.countSearches()} searches, counted by the service: ${counted}`);
  } finally {
    await client.close();
    await bare.close();
    stub.close();
  }
  const medians: Sample = {
    client: toMedian(samples.map((each) => each.client)),
    bare: toMedian(samples.map((each) => each.bare)),
  };
  const ratio = medians.client.perSecond / medians.bare.perSecond;
  emit(`medians: ${describeSample(medians)} (goal ${goal})`);
  return { bench: 'client', ratio, goal, ok: ratio >= goal && isLedgerTrue, samples };
};
