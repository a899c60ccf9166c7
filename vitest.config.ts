import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isFullSize } from './test/helpers/figures.js';

// What runs where, by folder:
// - `together` (`npm test`): test/unit, test/integration and test/e2e.
// - `more`: whole runs and processes that show again, higher up, what `together` proves, or what nobody changes often.
// - `embedded`: on the embedded database, where all takes several times as long: what is about that database, and each suite of
//   `describeOnEachDatabase`, which runs on Postgres elsewhere: the store's own, and of each kind of run (night, resumption, sweep,
//   comparison, backup) one that tries its SQL as a whole. What is about rosters, mail, events or words is the same on both: such suites
//   are of `describeOnPostgres`, and follow at full size.
// - `rendered`: what a reader sees, in a headless Chromium and in LibreOffice.
// - `long`: real processes that are killed, paused and timed for minutes.
// - `timed`: of those, what holds to a time. It comes last, whatever runs with it, and mostly waits: a processor for each of two.
const below = (...folders: readonly string[]): string[] => folders.map((folder) => `test/${folder}/**/*.test.ts`);
const timed = [
  'coverage-size',
  'csv-bombs',
  'inspect-size',
  'long-transactions',
  'not-screened-size',
  'outage',
  'pace-promises',
  'sandbox-real-lists',
  'shared-rate',
  'stopping',
].map((name) => `test/long/${name}.test.ts`);
const onBoth = isFullSize ? /describeOn(EachDatabase|Postgres)\(/ : /describeOnEachDatabase\(/;
const onEmbedded = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts') && onBoth.test(readFileSync(join(import.meta.dirname, path), 'utf8')));

// A fresh clone knows no times, and what takes minutes must not be what is left for one worker in the end.
const slowest = [
  'invite-kills',
  'kill-points',
  'kill-rivals',
  'statement-kills',
  'wide-rosters',
  'watchdog',
  'invite',
  'outages',
  'alerts',
  'accepted-runs',
  'held-dossiers',
  'cron-night',
  'screening-size',
  'ordinary-and-broken-nights',
  'listed-names',
  'random-worlds',
  'nothing-lost',
  'inspect-made-exports',
  'cli-operations',
  'cli-listen',
  'cli-schedule',
  'folder-lock',
  'runs/fleet',
  'pace-promises',
  'long/stopping',
];
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      slowest.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    return (await super.sort(files)).sort((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
  }
}

// Where the embedded database lives for seconds, optimising its machine code costs more than it gives: 0.8 s for each process.
const quickStart = ['--liftoff-only'];
const each = {
  // They end what hangs, and are no claim about time: a machine that others use as well may take five times as long as one that is quiet.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  maxWorkers: 3,
  // Compiled modules stay in node_modules, by their content: later runs find what `npm test` has compiled. Two folders of unit tests take
  // 23.5 instead of 28.4 s of processor time.
  experimental: { fsModuleCache: true },
};

export default defineConfig({
  test: {
    // Once for all projects: each that extended this would start a server of its own.
    globalSetup: ['test/helpers/database-broker.ts'],
    maxWorkers: each.maxWorkers,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default'],
    projects: [
      // Files share what they load, which is a fifth of their time.
      {
        test: {
          ...each,
          name: 'together',
          include: below('unit', 'integration', 'e2e'),
          execArgv: quickStart,
          isolate: false,
        },
      },
      {
        test: {
          ...each,
          name: 'more',
          include: below('more'),
          execArgv: quickStart,
          isolate: false,
        },
      },
      {
        test: {
          ...each,
          name: 'embedded',
          include: [...below('embedded'), ...onEmbedded],
          isolate: false,
          env: { NIGHTSCREEN_TEST_DATABASE: 'embedded' },
        },
      },
      { test: { ...each, name: 'rendered', include: below('rendered') } },
      {
        test: {
          ...each,
          name: 'long',
          include: below('long'),
          exclude: timed,
          isolate: false,
        },
      },
      {
        test: {
          ...each,
          name: 'timed',
          include: timed,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
