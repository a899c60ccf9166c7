import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../helpers/database-servers.js';
import { toCsv } from '../helpers/small-world.js';
import type { Bench } from './bench.js';
import { askScreen, bundleScreenProgram } from './measure-screen.js';
import { startStub } from './start-stub.js';

/** The least share of the configured rate that a whole run must use: at most two in a hundred longer than customers over rate. */
const goal = 1 / 1.02;
const rates = [
  { perSecond: 50, customers: 1_200 },
  { perSecond: 200, customers: 5_000 },
  { perSecond: 500, customers: 12_500 },
];

/** The wall time of whole runs (plan, searches, all stored, closed) beside customers over rate. */
export const benchPaceRun: Bench = async (emit) => {
  const stub = await startStub();
  const postgres = await startPostgres();
  const program = await bundleScreenProgram();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const samples = [];
  try {
    for (const [night, { perSecond, customers }] of rates.entries()) {
      const roster = join(folder, `roster-${perSecond}.csv`);
      await writeFile(
        roster,
        toCsv(Array.from({ length: customers }, (_, number) => `Customer Number ${perSecond} ${number}`)),
      );
      const child = program.start();
      const { spanMs } = await askScreen(child, {
        kind: 'night',
        url: stub.url,
        location: { url: postgres.url },
        roster,
        night,
        concurrency: 64,
        perSecond,
      });
      child.disconnect();
      const idealMs = (customers / perSecond) * 1_000;
      const sample = { perSecond, customers, spanMs, idealMs, share: idealMs / spanMs };
      samples.push(sample);
      emit(
        `${perSecond}/s: ${customers} customers in ${(spanMs / 1_000).toFixed(2)} s for ${(idealMs / 1_000).toFixed(2)} s, ${((spanMs / idealMs - 1) * 100).toFixed(2)} % over`,
      );
    }
  } finally {
    stub.close();
    await postgres.stop();
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
  emit('goal: at most 2 % over');
  const ratio = Math.min(...samples.map(({ share }) => share));
  return { bench: 'pace-run', ratio, goal, ok: ratio >= goal, samples };
};
