import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { startPostgres } from '../helpers/database-servers.js';
import { toCsv } from '../helpers/small-world.js';
import type { Bench } from './bench.js';
import { hasNews } from './made-answers.js';
import { median } from './median.js';
import { type NightKind, playNight, type TimeStep } from './stepwise-night.js';

/** The most that finding changes, storing them and making items of them may add to a run that only stores. */
const goal = 0.15;
const customers = 100_000;
/** The first, in which everything is new, is reported and not judged. */
const nights = 3;
const kinds: readonly NightKind[] = ['judged', 'stored'];

type Steps = Record<string, number>;

/**
 * What judging adds to a night of 100,000 customers with two matches each, of which one in two hundred changes. Two databases live the same
 * nights, one with runs as they are, the other with runs that only store and so never had a change or an item. Their steps take turns, so that
 * what else the machine does meets both alike. No answer comes over a network and nobody waits for a rate: what a run takes beside judging is
 * only its plan, ledger, saving and closing, and the added share is the largest that any run can see.
 */
export const benchChanges: Bench = async (emit) => {
  const postgres = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const roster = join(folder, 'roster.csv');
  await writeFile(roster, toCsv(Array.from({ length: customers }, (_, number) => `Customer Number ${number}`)));
  const samples: { night: number; added: number; judged: Steps; stored: Steps }[] = [];
  const databases = await openBoth(postgres.url);
  try {
    for (let night = 0; night < nights; night += 1) {
      const inTurn = takeTurns();
      const spent: Record<NightKind, Steps> = { judged: {}, stored: {} };
      await Promise.all(
        kinds.map(async (kind) => {
          const step = timeInto(spent[kind], inTurn);
          const { state, counts } = await playNight(databases[kind], roster, { kind, night, step });
          const changes = 'changes' in counts ? counts.changes : Number.NaN;
          if (state !== 'complete' || changes !== expectChanges(kind, night)) {
            throw new Error(`the ${kind} night ${night + 1} ended ${state} with ${changes} changes`);
          }
        }),
      );
      const added = sum(spent.judged) / sum(spent.stored) - 1;
      samples.push({ night, added, ...spent });
      emit(
        `night ${night + 1}: ${describe(spent.judged)} | only stored: ${describe(spent.stored)} | ${percent(added)}`,
      );
      // As the server does by itself in the hours between two nights.
      for (const kind of kinds) await databases[kind].runScript('vacuum analyze');
    }
  } finally {
    for (const kind of kinds) await databases[kind].close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
  const ratio = median(samples.slice(1).map(({ added }) => added));
  emit(`judging adds ${percent(ratio)} (goal: at most ${percent(goal)})`);
  return { bench: 'changes', ratio, goal, ok: ratio <= goal, samples };
};

const expectChanges = (kind: NightKind, night: number): number =>
  kind === 'stored'
    ? 0
    : Array.from({ length: customers }, (_, number) => number).filter((number) => hasNews(number, night)).length;

async function openBoth(server: string): Promise<Record<NightKind, Database>> {
  const open = async (name: NightKind): Promise<Database> => {
    const administration = await openDatabase({ url: server }, 'bench');
    await administration.runScript(`create database ${name}`);
    await administration.close();
    const database = await openDatabase({ url: server.replace(/postgres$/, name) }, 'bench');
    await migrate(database);
    return database;
  };
  return { judged: await open('judged'), stored: await open('stored') };
}

/** Lets one work at a time, in order of asking: two who ask again and again take turns. */
function takeTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

const timeInto =
  (spent: Steps, inTurn: ReturnType<typeof takeTurns>): TimeStep =>
  (step, work) =>
    inTurn(async () => {
      const begunMs = performance.now();
      const result = await work();
      spent[step] = (spent[step] ?? 0) + performance.now() - begunMs;
      return result;
    });

const sum = (steps: Steps): number => Object.values(steps).reduce((total, spanMs) => total + spanMs, 0);

const describe = (steps: Steps): string =>
  Object.entries(steps)
    .map(([step, spanMs]) => `${step} ${(spanMs / 1_000).toFixed(2)} s`)
    .join(', ');

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
