import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { bundleProgram } from '../helpers/cli-process.js';
import { startPostgres } from '../helpers/database-servers.js';
import type { Bench } from './bench.js';
import { countChanges, countRekeyed, fillReportableNights } from './fill-reportable-nights.js';
import type { ReportMeasures, ReportOrder } from './report-program.js';

const customers = 1_000_000;
const mostSeconds = 60;
const mostBytes = 256 * 1_024 * 1_024;
const changedNight = { what: `${countChanges(customers)} changes`, runId: '2' };
const nights = [
  { what: `${2 * customers} first-time matches`, runId: '1' },
  changedNight,
  { what: `${customers} customers not screened`, runId: '3' },
  { what: `${countRekeyed(customers)} matches under a new id`, runId: '4' },
];

/**
 * All formats of the reports of four nights over a million customers: the time of the one with changes and the most memory of any, the worse
 * of the two over what it may take.
 */
export const benchReport: Bench = async (emit) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const program = await bundleProgram(new URL('./report-program.ts', import.meta.url));
  const postgres = await startPostgres();
  // Each in a process of its own: the most memory that one has held cannot be taken back.
  const ask = async (order: ReportOrder): Promise<ReportMeasures> => {
    const child = fork(program.path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send(order);
    const [measures]: (ReportMeasures | undefined)[] = await once(child, 'message');
    child.disconnect();
    if (!measures || measures.error !== null) throw new Error(measures?.error ?? 'the measuring process said nothing');
    return measures;
  };
  try {
    const database = await openDatabase({ url: postgres.url }, 'bench');
    await migrate(database);
    await fillReportableNights(database, customers);
    await database.close();
    const samples: (ReportMeasures & { what: string; runId: string })[] = [];
    for (const { what, runId } of nights) {
      const measures = await ask({ url: postgres.url, runId, directory: folder });
      samples.push({ what, runId, ...measures });
      const bytes = measures.files.reduce((sum, file) => sum + file.bytes, 0);
      emit(
        `${what}: ${(measures.spanMs / 1_000).toFixed(1)} s, at most ${(measures.peakBytes / 1_048_576).toFixed(0)} MB, ${(bytes / 1_048_576).toFixed(0)} MB of files`,
      );
    }
    const usual = samples.find(({ runId }) => runId === changedNight.runId);
    const ratio = Math.max(
      (usual?.spanMs ?? Infinity) / 1_000 / mostSeconds,
      ...samples.map(({ peakBytes }) => peakBytes / mostBytes),
    );
    emit(`the worst takes ${ratio.toFixed(2)} of what it may (${mostSeconds} s and ${mostBytes / 1_048_576} MB)`);
    return { bench: 'report', ratio, goal: 1, ok: ratio <= 1, samples };
  } finally {
    await postgres.stop();
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
};
