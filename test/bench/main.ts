import { parseArgs } from 'node:util';
import { type Bench, type BenchOrder, Ground } from './bench.js';
import { benchClient } from './client.js';
import { benchClose } from './close.js';
import { benchDiff } from './diff.js';
import { benchFleet } from './fleet.js';
import { benchImport } from './import.js';
import { benchPace } from './pace.js';
import { benchRescreen, benchScreen } from './screen.js';
import { benchStart } from './start.js';
import { benchSweep } from './sweep.js';

const benches: Readonly<Record<string, Bench>> = {
  client: benchClient,
  close: benchClose,
  diff: benchDiff,
  fleet: benchFleet,
  import: benchImport,
  pace: benchPace,
  rescreen: benchRescreen,
  screen: benchScreen,
  start: benchStart,
  sweep: benchSweep,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    million: { type: 'boolean', default: false },
  },
});
const [name = '', ...others] = positionals;
const chosen = name === 'all' ? Object.keys(benches) : Object.keys(benches).filter((each) => each === name);

const size: Pick<BenchOrder, 'sizes' | 'rounds'> = values.quick
  ? { sizes: [200], rounds: 1 }
  : values.million
    ? { sizes: [100_000, 1_000_000], rounds: 1 }
    : { sizes: [10_000, 100_000], rounds: 3 };

if (chosen.length === 0 || others.length > 0) {
  process.stderr.write(
    `usage: npm run bench -- NAME [--quick | --million] [--json]\nbenches: ${Object.keys(benches).join(', ')}; all\n`,
  );
  process.exitCode = 2;
}

/** Measures one bench after another until none waits. */
const measureAll = (waiting: string[]): Promise<void> =>
  Ground.use(async (ground) => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const begunMs = performance.now();
      const emit = (line: string): void => void (values.json || process.stdout.write(`${line}\n`));
      const result = await benches[each]?.({ ground, emit, ...size, isQuick: values.quick });
      emit(`${each} took ${((performance.now() - begunMs) / 1_000).toFixed(1)} s`);
      process.stdout.write(`${JSON.stringify(result)}\n`);
      if (!Number.isFinite(result?.ratio)) throw new Error(`${each} measured nothing`);
      // The small form shows only that a bench works.
      if (!result?.ok && !values.quick) process.exitCode = 3;
    }
  });

if (chosen.length > 0 && others.length === 0) {
  const waiting = [...chosen];
  // Nobody reads the figures of the small form: two at a time, each on a ground of its own. It mostly starts processes.
  const sides = Array.from({ length: values.quick && chosen.length > 1 ? 2 : 1 }, () => measureAll(waiting));
  for (const side of await Promise.allSettled(sides)) if (side.status === 'rejected') throw side.reason;
}
