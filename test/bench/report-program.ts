import { performance } from 'node:perf_hooks';
import { boundHeap } from '../../src/cli/process.js';
import { runReports } from '../../src/runs/write-reports.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { readPeakBytes } from '../helpers/figures.js';
import { makeAppContext } from '../helpers/small-world.js';

/** What the measuring process is to do: write the report of a run. */
export interface ReportOrder {
  url: string;
  runId: string;
  directory: string;
}

/** What it measured. */
export interface ReportMeasures {
  spanMs: number;
  /** The most memory that this process has held. */
  peakBytes: number;
  files: readonly { name: string; bytes: number }[];
  /** What went wrong, or null. */
  error: string | null;
}

async function measure({ url, runId, directory }: ReportOrder): Promise<Omit<ReportMeasures, 'peakBytes' | 'error'>> {
  const database = await openDatabase({ url }, 'bench');
  const app = await makeAppContext(database, { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' });
  try {
    const begunMs = performance.now();
    const [report] = await runReports(app, { runId, directory });
    const spanMs = performance.now() - begunMs;
    return { spanMs, files: report?.files.map(({ name, bytes }) => ({ name, bytes })) ?? [] };
  } finally {
    await app.client().close();
    await database.close();
  }
}

boundHeap();
process.on('message', (order: ReportOrder) => {
  const nothing = { spanMs: 0, files: [], error: null };
  measure(order)
    .catch((error: unknown) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }))
    .then((measures) => process.send?.({ ...nothing, ...measures, peakBytes: readPeakBytes() }));
});
process.on('disconnect', () => process.exit());
