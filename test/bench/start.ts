import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Bench, median } from './bench.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const cli = join(project, 'dist/src/cli/main.js');
const roster = join(project, 'fixtures/rosters/clean.csv');
const openBare = `
  import { PGlite } from '@electric-sql/pglite';
  const database = await PGlite.create(process.argv[1]);
  await database.query('select 1');
  await database.close();
  process.exit(0);`;

/** A command beside the least that it could take; `most` is the largest good ratio of their wall times. */
interface Comparison {
  what: string;
  most: number;
  words: readonly string[];
  least: readonly string[];
}

async function timeNode(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, words, { cwd: project, env: environment, stdio: 'ignore' });
  const [exitCode]: (number | null)[] = await once(child, 'close');
  if (exitCode !== 0) throw new Error(`node ${words.join(' ')} ended with exit code ${exitCode}`);
  return performance.now() - startedMs;
}

/**
 * How long the built command line takes to print its help beside an empty program, and to list runs beside bare PGlite on the same folder. The
 * bare side has V8's own settings; the command line lets V8 optimise the engine later, which is a part of what is measured.
 */
export const benchStart: Bench = async ({ emit, rounds, isQuick }) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const data = join(folder, 'data');
  const environment = { PATH: process.env['PATH'], NIGHTSCREEN_DATA: data };
  const comparisons: readonly Comparison[] = [
    { what: '--help over node -e 0', most: 3, words: [cli, '--help'], least: ['-e', '0'] },
    {
      what: 'runs over bare PGlite',
      most: 1.4,
      words: [cli, 'runs'],
      least: ['--input-type=module', '-e', openBare, join(data, 'pgdata')],
    },
  ];
  try {
    await promisify(execFile)(process.execPath, [cli, 'import', '--file', roster], { cwd: folder, env: environment });
    const samples: { what: string; ratio: number; goal: number; ms: number; leastMs: number }[] = [];
    for (const { what, most, words, least } of comparisons) {
      const taken: number[] = [];
      const bare: number[] = [];
      // In turns, so that whatever else runs here slows both; the first of each only fills the caches, which the small form need not.
      for (let round = isQuick ? 1 : 0; round <= (isQuick ? 1 : rounds * 5); round += 1) {
        const [ms, leastMs] = [await timeNode(words, environment), await timeNode(least, environment)];
        if (round === 0) continue;
        taken.push(ms);
        bare.push(leastMs);
      }
      const [ms, leastMs] = [median(taken), median(bare)];
      samples.push({ what, ratio: ms / leastMs, goal: most, ms, leastMs });
      emit(`${what}: ${ms.toFixed(0)} ms over ${leastMs.toFixed(0)} ms = ${(ms / leastMs).toFixed(2)} (goal ${most})`);
    }
    const [worst] = samples.toSorted((one, other) => other.ratio / other.goal - one.ratio / one.goal);
    const { ratio, goal } = worst ?? { ratio: Number.NaN, goal: Number.NaN };
    return { bench: 'start', ratio, goal, ok: ratio <= goal, samples };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
