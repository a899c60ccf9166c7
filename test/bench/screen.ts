import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { startPostgres } from '../helpers/database-servers.js';
import { toCsv } from '../helpers/small-world.js';
import type { Bench } from './bench.js';
import { askScreen, bundleScreenProgram } from './measure-screen.js';
import { median } from './median.js';
import type { ScreenReport } from './screen-program.js';
import { startStub } from './start-stub.js';

/** The least share of the bare loop's pace that the whole pipeline must reach. */
const goals = { postgres: 0.45, embedded: 0.3 };
const concurrency = 32;
const customers = 10_000;
/** The first stores every answer with its matches; in those after it, as in most of a year, the answers are known. */
const nights = 4;

interface Sample {
  dialect: keyof typeof goals;
  night: number;
  perSecond: number;
  cpuMicros: number;
  barePerSecond: number;
  ratio: number;
}

const toPerSecond = ({ searches, spanMs }: ScreenReport): number => (searches * 1_000) / spanMs;

/** Searches per second of whole nights (roster in the database, plan, searches, all stored) beside a bare loop in the same process. */
export const benchScreen: Bench = async (emit) => {
  const stub = await startStub();
  const postgres = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const roster = join(folder, 'roster.csv');
  await writeFile(roster, toCsv(Array.from({ length: customers }, (_, number) => `Customer Number ${number}`)));
  const program = await bundleScreenProgram();
  const samples: Sample[] = [];

  const measureNights = async (dialect: Sample['dialect'], location: DatabaseLocation): Promise<void> => {
    const child = program.start();
    const bare = (): Promise<ScreenReport> =>
      askScreen(child, { kind: 'bare', url: stub.url, searches: customers, concurrency });
    // The first only warms up.
    await bare();
    for (let night = 0; night < nights; night += 1) {
      const before = toPerSecond(await bare());
      const report = await askScreen(child, { kind: 'night', url: stub.url, location, roster, night, concurrency });
      const barePerSecond = (before + toPerSecond(await bare())) / 2;
      const perSecond = toPerSecond(report);
      const cpuMicros = (report.cpuMs * 1_000) / report.searches;
      const sample = { dialect, night, perSecond, cpuMicros, barePerSecond, ratio: perSecond / barePerSecond };
      samples.push(sample);
      emit(
        `${dialect} night ${night + 1}: ${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} us CPU a search | bare ${barePerSecond.toFixed(0)}/s | ${sample.ratio.toFixed(2)}`,
      );
    }
    child.disconnect();
  };
  try {
    await measureNights('postgres', { url: postgres.url });
    await measureNights('embedded', { folder: join(folder, 'database') });
  } finally {
    stub.close();
    await postgres.stop();
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
  const assessed = Object.entries(goals).map(([dialect, goal]) => {
    const ratios = samples.filter((sample) => sample.dialect === dialect).map(({ ratio }) => ratio);
    const ratio = median(ratios);
    emit(`${dialect}: median ${ratio.toFixed(2)}, first night ${ratios[0]?.toFixed(2)} (goal ${goal})`);
    return { ratio, goal };
  });
  const [worst = { ratio: 0, goal: 1 }] = assessed.toSorted(
    (one, other) => one.ratio / one.goal - other.ratio / other.goal,
  );
  return { bench: 'screen', ...worst, ok: worst.ratio >= worst.goal, samples };
};
