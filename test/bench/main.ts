import type { Bench } from './bench.js';
import { benchChanges } from './changes.js';
import { benchClient } from './client.js';
import { benchImport } from './import.js';
import { benchListen } from './listen.js';
import { benchMemory } from './memory.js';
import { benchPace } from './pace.js';
import { benchPaceRun } from './pace-run.js';
import { benchReconcile } from './reconcile.js';
import { benchReport } from './report.js';
import { benchScreen } from './screen.js';
import { benchStart } from './start.js';
import { benchSweep } from './sweep.js';

/** The client's pace, and then the wall time of whole runs at a pace. */
const benchWholePace: Bench = async (emit) => {
  const calls = await benchPace(emit);
  const runs = await benchPaceRun(emit);
  return { ...calls, ok: calls.ok && runs.ok, samples: [...calls.samples, ...runs.samples] };
};

const benches: Readonly<Record<string, Bench>> = {
  changes: benchChanges,
  client: benchClient,
  import: benchImport,
  listen: benchListen,
  memory: benchMemory,
  pace: benchWholePace,
  'pace-run': benchPaceRun,
  reconcile: benchReconcile,
  report: benchReport,
  screen: benchScreen,
  start: benchStart,
  sweep: benchSweep,
};

const words = process.argv.slice(2);
const [name = '', ...others] = words.filter((word) => word !== '--json');
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;

if (!bench || others.length > 0) {
  process.stderr.write(`usage: npm run bench -- NAME [--json]\nbenches: ${Object.keys(benches).join(', ')}\n`);
  process.exitCode = 2;
} else {
  const isForPeople = !words.includes('--json');
  const result = await bench((line) => {
    if (isForPeople) process.stdout.write(`${line}\n`);
  });
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exitCode = result.ok ? 0 : 3;
}
