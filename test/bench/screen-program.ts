import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import { amlSearchResultSchema } from '../../src/client/aml.js';
import { unpaced } from '../../src/client/pace.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { migrate } from '../../src/store/database/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { readPeakBytes } from '../helpers/figures.js';
import { makeAppContext } from '../helpers/small-world.js';

/** What the measuring process is to do: nights of one roster over a database, or the least that any client must do. */
export type ScreenOrder =
  | { kind: 'bare'; url: string; searches: number; concurrency: number }
  | {
      kind: 'night';
      url: string;
      location: DatabaseLocation;
      roster: string;
      night: number;
      concurrency: number;
      /** Without it as many as possible. */
      perSecond?: number;
    };

/** What it measured. */
export interface ScreenReport {
  searches: number;
  spanMs: number;
  /** This process's CPU time in all its threads. */
  cpuMs: number;
  /** The most memory that this process has held since it began. */
  peakBytes: number;
  /** What went wrong, or null. */
  error: string | null;
}

const apiKey = 'private_sandbox_benchBenchBenchBench';
const dayMs = 24 * 60 * 60 * 1_000;
const isOn = new AbortController().signal;

async function measure(work: () => Promise<number>): Promise<ScreenReport> {
  const cpuBefore = process.cpuUsage();
  const begunMs = performance.now();
  const searches = await work();
  const spanMs = performance.now() - begunMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { searches, spanMs, cpuMs: (user + system) / 1_000, peakBytes: readPeakBytes(), error: null };
}

/** The least that any client must do: send, read, parse, validate. */
async function searchBare({ url, searches, concurrency }: Extract<ScreenOrder, { kind: 'bare' }>): Promise<number> {
  const dispatcher = new Agent();
  const headers = {
    authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
    'content-type': 'application/json',
  };
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < searches) {
      begun += 1;
      const body = JSON.stringify({ type: 'person', name: `Customer Number ${begun}` });
      const answer = await request(`${url}/aml/search`, { method: 'POST', headers, body, dispatcher });
      amlSearchResultSchema.parse(await answer.body.json());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  await dispatcher.close();
  return searches;
}

/** One night from the roster in the database to the closed run; the first one is preceded by an import that is not measured. */
async function playNight(order: Extract<ScreenOrder, { kind: 'night' }>): Promise<ScreenReport> {
  const { url, location, night, concurrency } = order;
  const database = await openDatabase(location, 'bench');
  const rate = { perSecond: order.perSecond ?? 10_000, concurrency };
  const roster = toFileRoster('bench', order.roster);
  const app = await makeAppContext(
    database,
    { url, privateKey: apiKey },
    {
      offsetMs: night * dayMs,
      rate,
      ...(order.perSecond === undefined ? { pace: unpaced() } : {}),
      settings: { service: { baseUrl: url, rate }, rosters: [roster], run: { deadline: '1h', timezone: 'UTC' } },
    },
  );
  const quiet = { ...app, emit: () => undefined };
  try {
    await migrate(database);
    if (night === 0 || order.perSecond !== undefined) await runImport(quiet, roster, isOn);
    return await measure(async () => {
      const options = { kind: 'screen', roster, selection: 'due', importFirst: false, writeReport: false } as const;
      const { state, counts } = await runScreening(quiet, options, isOn);
      if (state !== 'complete' || !('screened' in counts)) throw new Error(`the night ended ${state}`);
      return counts.screened;
    });
  } finally {
    await app.client().close();
    await database.close();
  }
}

process.on('message', (order: ScreenOrder) => {
  const working = order.kind === 'bare' ? measure(() => searchBare(order)) : playNight(order);
  working
    .catch((error: unknown): ScreenReport => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { searches: 0, spanMs: 1, cpuMs: 0, peakBytes: readPeakBytes(), error: message };
    })
    .then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit());
