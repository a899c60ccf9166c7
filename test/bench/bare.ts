import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { z } from 'zod';
import type { StubOrder, StubReport } from './stub-service.js';

/** The key of the stub's account. */
export const apiKey = 'private_sandbox_benchBenchBenchBench';
/** Calls in flight, of every side. */
export const concurrency = 64;
/** What no side comes near: the limiter is on and bounds nothing. */
export const fullRate = 100_000;

/** A stub service in a process of its own. */
export interface Stub {
  /** With the version prefix. */
  url: string;
  order(order: StubOrder): void;
  /** The searches since the last report. */
  report(): Promise<StubReport>;
  close(): void;
}

/** The next message of a process. */
export const hear = async <Message>(child: ChildProcess): Promise<Message> => {
  const [message]: Message[] = await once(child, 'message');
  if (message === undefined) throw new Error('the process said nothing');
  return message;
};

/** Starts a stub of the service: two matches for 20 % of names unless it is ordered otherwise. */
export async function startStub(): Promise<Stub> {
  const script = fileURLToPath(new URL('./stub-service.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--import', createRequire(import.meta.url).resolve('tsx')] });
  return {
    url: await hear<string>(child),
    order: (order) => void child.send(order),
    report: async () => {
      child.send('report');
      return hear<StubReport>(child);
    },
    close: () => child.disconnect(),
  };
}

// Of our own: the client's schema would be measured by itself.
const answerSchema = z.object({
  query: z.string(),
  type: z.enum(['person', 'entity']),
  total: z.number().int().nonnegative(),
  results: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      schema: z.string(),
      match: z.boolean(),
      score: z.number(),
      topics: z.array(z.string()),
      birth_date: z.array(z.string()),
      country: z.array(z.string()),
    }),
  ),
});

/** The least that any client must do: send, read, parse, validate, over one undici Pool. */
export class BareClient {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers = {
    authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
    'content-type': 'application/json',
  };
  searches = 0;

  constructor(baseUrl: string) {
    const { origin, pathname } = new URL(baseUrl);
    this.#pool = new Pool(origin, { connections: concurrency });
    this.#path = `${pathname}/aml/search`;
  }

  async search(name: string): Promise<void> {
    this.searches += 1;
    const body = JSON.stringify({ type: 'person', name });
    const { statusCode, body: read } = await this.#pool.request({
      path: this.#path,
      method: 'POST',
      headers: this.#headers,
      body,
    });
    const answer = answerSchema.parse(await read.json());
    if (statusCode !== 201 || answer.query !== name) throw new Error(`the bare search of ${name} failed`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** What a side's calls came to; `cpuMicros` is the time of this process's CPU, all threads, for one call. */
export interface CallRate {
  perSecond: number;
  cpuMicros: number;
}

/** Makes so many calls; `call` gets the number of each, from 0. */
export async function measureCalls(calls: number, call: (number: number) => Promise<unknown>): Promise<CallRate> {
  const begunMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < calls) {
      begun += 1;
      await call(begun - 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond: (calls * 1_000) / (performance.now() - begunMs), cpuMicros: (user + system) / calls };
}
