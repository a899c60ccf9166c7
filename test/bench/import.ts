import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { bundleProgram } from '../helpers/cli-process.js';
import { startPostgres } from '../helpers/database-servers.js';
import type { Bench } from './bench.js';
import type { ImportOrder, ImportReport } from './import-program.js';
import { listRosterRows } from './list-roster-rows.js';

/** The most that a whole import may take of what its bare parts take one after another. */
const goal = 1.7;
const mostBytes = 256 * 1_024 * 1_024;
const customers = 1_000_000;
/** The embedded database runs in our own process. */
const embeddedCustomers = 200_000;

const addUp = ({ steps }: ImportReport): number => Object.values(steps).reduce((sum, ms) => sum + ms, 0);
const toSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const toMegabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`;

/** A first import of a million rows beside bare csv-parse, COPY and insert-select of the same rows; then the same roster again. */
export const benchImport: Bench = async (emit) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const program = await bundleProgram(new URL('./import-program.ts', import.meta.url));
  const postgres = await startPostgres();
  const samples: object[] = [];
  // Each in a process of its own: the most memory that one has held cannot be taken back.
  const ask = async (order: ImportOrder): Promise<ImportReport> => {
    const child = fork(program.path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send(order);
    const [report]: (ImportReport | undefined)[] = await once(child, 'message');
    child.disconnect();
    if (!report || report.error !== null) throw new Error(report?.error ?? 'the measuring process said nothing');
    return report;
  };
  const writeRoster = async (rows: number): Promise<string> => {
    const path = join(folder, `roster-${rows}.csv`);
    await pipeline(Readable.from(listRosterRows(rows)), createWriteStream(path));
    return path;
  };
  const measure = async (what: string, location: DatabaseLocation, roster: string): Promise<ImportReport> => {
    const report = await ask({ kind: 'import', location, roster });
    samples.push({ what, ...report });
    const { rows, cpuMs, peakBytes } = report;
    emit(
      `${what}: ${rows} rows in ${toSeconds(addUp(report))} (${toSeconds(cpuMs)} of our CPU), at most ${toMegabytes(peakBytes)}`,
    );
    return report;
  };
  try {
    const roster = await writeRoster(customers);
    const bare: ImportReport[] = [];
    const measureBare = async (): Promise<void> => {
      const report = await ask({ kind: 'bare', url: postgres.url, roster });
      bare.push(report);
      samples.push({ what: 'bare', ...report });
      const parts = Object.entries(report.steps).map(([step, ms]) => `${step} ${toSeconds(ms)}`);
      emit(`bare: ${parts.join(' + ')} = ${toSeconds(addUp(report))}`);
    };
    await measureBare();
    const first = await measure('postgres, first import', { url: postgres.url }, roster);
    await measureBare();
    const again = await measure('postgres, unchanged', { url: postgres.url }, roster);
    await measure('embedded, first import', { folder: join(folder, 'database') }, await writeRoster(embeddedCustomers));
    const ratio = addUp(first) / (bare.reduce((sum, report) => sum + addUp(report), 0) / bare.length);
    const peakBytes = Math.max(first.peakBytes, again.peakBytes);
    emit(
      `total over bare: ${ratio.toFixed(2)} (goal ${goal}), unchanged ${(addUp(again) / addUp(first)).toFixed(2)} of the first`,
    );
    return { bench: 'import', ratio, goal, ok: ratio <= goal && peakBytes <= mostBytes, samples };
  } finally {
    await postgres.stop();
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
};
