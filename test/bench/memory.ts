import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startPostgres } from '../helpers/database-servers.js';
import type { Bench } from './bench.js';
import { askScreen, bundleScreenProgram } from './measure-screen.js';
import { startStub } from './start-stub.js';

const sizes = [100_000, 1_000_000];
/** Ten times the customers may take a tenth more. */
const goal = 1 / 1.1;
const mostBytes = 256 * 1_024 * 1_024;
const concurrency = 32;

/** The memory of two whole nights (import, plan, searches, all stored, closed) of a large roster beside those of one a tenth as large. */
export const benchMemory: Bench = async (emit) => {
  const stub = await startStub();
  const program = await bundleScreenProgram();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const samples: { customers: number; peakBytes: number; seconds: readonly number[] }[] = [];
  try {
    for (const customers of sizes) {
      const roster = join(folder, `roster-${customers}.csv`);
      await pipeline(Readable.from(listRows(customers)), createWriteStream(roster));
      const postgres = await startPostgres();
      const child = program.start();
      const seconds: number[] = [];
      let peakBytes = 0;
      try {
        for (const night of [0, 1]) {
          const location = { url: postgres.url };
          const report = await askScreen(child, { kind: 'night', url: stub.url, location, roster, night, concurrency });
          if (report.searches !== customers) throw new Error(`${report.searches} of ${customers} were screened`);
          seconds.push(report.spanMs / 1_000);
          peakBytes = report.peakBytes;
        }
      } finally {
        child.disconnect();
        await postgres.stop();
      }
      samples.push({ customers, peakBytes, seconds });
      const nights = seconds.map((span) => `${span.toFixed(0)} s`).join(' and ');
      emit(`${customers} customers: at most ${(peakBytes / 1_048_576).toFixed(0)} MB, nights of ${nights}`);
    }
  } finally {
    stub.close();
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
  const [small, large] = samples.map(({ peakBytes }) => peakBytes);
  const ratio = (small ?? 0) / (large ?? 1);
  emit(`ten times the customers: ${(1 / ratio).toFixed(2)} times the memory (goal 1.10 and 256 MB)`);
  return { bench: 'memory', ratio, goal, ok: ratio >= goal && (large ?? mostBytes) < mostBytes, samples };
};

function* listRows(customers: number): Generator<string> {
  yield 'customer_id,type,name\n';
  for (let number = 0; number < customers; number += 1) yield `C-${number},person,Customer Number ${number}\n`;
}
