import { RosterError } from '../../../src/errors.js';
import { openCsvTable } from '../../../src/roster/csv/csv-table.js';
import type { LineTally } from '../../../src/roster/table-reading.js';
import { readPeakBytes } from '../../helpers/figures.js';

/** What a process that reads a CSV table prints as JSON. */
export interface CsvReport {
  /** Of the RosterError that ended the reading; null when it came to the end. */
  code: string | null;
  message: string;
  tally: LineTally | null;
  milliseconds: number;
  cpuMilliseconds: number;
  /** How much more memory was resident at the highest than before. */
  addedBytes: number;
}

/** Reads the tables whose paths are given, one after another, and reports on the last: a process of its own shows its memory. */
async function main(paths: readonly string[]): Promise<void> {
  for (const path of paths) report(await measureReading(path), path === paths.at(-1));
}

async function measureReading(path: string): Promise<CsvReport> {
  const before = process.memoryUsage().rss;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let code: string | null = null;
  let message = '';
  let tally: LineTally | null = null;
  try {
    const table = await openCsvTable({ path, delimiter: 'auto', encoding: 'auto', header: true }, () => false);
    for await (const _ of table.records);
    tally = table.tally();
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    code = error.code;
    message = error.message;
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    code,
    message,
    tally,
    milliseconds: performance.now() - startedAt,
    cpuMilliseconds: (user + system) / 1_000,
    addedBytes: Math.max(readPeakBytes() - before, 0),
  };
}

function report(each: CsvReport, isLast: boolean): void {
  if (isLast) process.stdout.write(`${JSON.stringify(each)}\n`);
}

await main(process.argv.slice(2));
