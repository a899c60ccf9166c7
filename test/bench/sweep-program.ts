import { performance } from 'node:perf_hooks';
import { tuneV8 } from '../../src/cli/process.js';
import { sweepSettingsSchema } from '../../src/dossiers/sweep-dossiers.js';
import { runSweep } from '../../src/runs/sweep-run.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { readPeakBytes } from '../helpers/figures.js';
import { makeAppContext } from '../helpers/small-world.js';

/** A sweep of the dossiers of a service into a database. */
export interface SweepOrder {
  url: string;
  privateKey: string;
  databaseUrl: string;
  windows: number;
  perSecond: number;
}

/** What came of it; `sentMs` are the instants at which calls were begun. */
export interface SweepReport {
  spanMs: number;
  /** This process's CPU time in all its threads. */
  cpuMs: number;
  peakBytes: number;
  dossiers: number;
  sentMs: number[];
  /** What went wrong, or null. */
  error: string | null;
}

async function sweep({ url, privateKey, databaseUrl, windows, perSecond }: SweepOrder): Promise<SweepReport> {
  const database = await openDatabase({ url: databaseUrl }, 'bench');
  const sentMs: number[] = [];
  const app = await makeAppContext(
    database,
    { url, privateKey },
    {
      rate: { perSecond, concurrency: 16 },
      settings: { sweep: sweepSettingsSchema.parse({ windows }), run: { deadline: '1h' } },
      observer: { started: () => void sentMs.push(performance.now()) },
    },
  );
  try {
    await migrate(database);
    const quiet = { ...app, emit: () => undefined };
    const cpuBefore = process.cpuUsage();
    const begunMs = performance.now();
    const { state, reasons, counts } = await runSweep(quiet, { writeReport: false }, new AbortController().signal);
    const spanMs = performance.now() - begunMs;
    const { user, system } = process.cpuUsage(cpuBefore);
    if (state !== 'complete' || !('dossiers' in counts))
      throw new Error(`the sweep ended ${state}: ${reasons.join('; ')}`);
    return {
      spanMs,
      cpuMs: (user + system) / 1_000,
      peakBytes: readPeakBytes(),
      dossiers: counts.dossiers,
      sentMs,
      error: null,
    };
  } finally {
    await app.client().close();
    await database.close();
  }
}

// As the command line does.
tuneV8();
process.on('message', (order: SweepOrder) => {
  sweep(order)
    .catch((error: unknown): SweepReport => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { spanMs: 1, cpuMs: 0, peakBytes: 0, dossiers: 0, sentMs: [], error: message };
    })
    .then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit());
