import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isFullSize } from './test/helpers/figures.js';

// `npm run test:long`: they kill, pause and time real processes for minutes; those that hold to a time come last, whatever runs with
// them (`npm run test:rest`), and mostly wait: a processor for each of two.
const long = ['test/long/**/*.test.ts'];
const timed = [
  'coverage-size',
  'csv-bombs',
  'inspect-size',
  'lease-takeover',
  'long-transactions',
  'not-screened-size',
  'outage',
  'pace-promises',
  'sandbox-real-lists',
  'stopping',
].map((name) => `test/long/${name}.test.ts`);
// `npm run test:rendered`: what a reader sees, in a headless Chromium and in LibreOffice.
const rendered = ['test/rendered/**/*.test.ts'];
// Whole runs are tried on Postgres first; `npm run test:embedded` has those on the embedded database, where each takes several times as long.
const runsFolder = join(import.meta.dirname, 'test/integration/runs');
// What these do beyond the others is SQL, which the store's own tests try on both: on the embedded database at full size only.
const onEmbeddedAtFullSize = [
  'accepted-settings',
  'alerts',
  'checks',
  'details',
  'held-dossiers',
  'key-without-prefix',
  'report-workbook',
  'review-legacy',
  'review-lists',
  'reviewing',
  'rosters/changed-customers',
  'rosters/doubts',
  'rosters/dropped-parties',
  'rosters/guards',
  'rosters/held-roster',
  'rosters/history',
  'rosters/known-records',
  'rosters/leaving',
  'rosters/lost-rows',
  'rosters/made-rosters',
  'rosters/small-findings',
  'rosters/trial',
  'rosters/unaccepted-customers',
  'rosters/unscreenable',
  'run-history',
  'run-ranges',
  'second-reviewers',
  'spans',
  'watching/former-answers',
  'watching/watchdog',
  'what-waits',
  'where-words-lie',
  'whole-writes',
].map((name) => `${name}.test.ts`);
const onEmbedded = readdirSync(runsFolder, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) =>
      name.endsWith('.test.ts') &&
      (isFullSize || !onEmbeddedAtFullSize.includes(name)) &&
      readFileSync(join(runsFolder, name), 'utf8').includes('describeOnChosenDatabase('),
  )
  .map((name) => `test/integration/runs/${name}`);
// Runs on the embedded database are also watched for what this tries.
const nestedUse = 'test/integration/store/nested-use.test.ts';

// A fresh clone knows no times, and what takes minutes must not be what is left for one worker in the end.
const slowest = [
  'invite-kills',
  'kill-points',
  'kill-rivals',
  'wide-rosters',
  'alerts',
  'held-runs',
  'cron-night',
  'screening-size',
  'ordinary-and-broken-nights',
  'list-variants',
  'listed-names',
  'random-worlds',
  'nothing-lost',
  'inspect-made-exports',
  'cli-operations',
  'cli-listen',
  'cli-sweep',
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
          include: ['test/**/*.test.ts'],
          exclude: [...long, ...rendered, nestedUse],
          execArgv: quickStart,
          isolate: false,
        },
      },
      {
        test: {
          ...each,
          name: 'embedded',
          include: [...onEmbedded, nestedUse],
          isolate: false,
          env: { NIGHTSCREEN_TEST_DATABASE: 'embedded' },
        },
      },
      { test: { ...each, name: 'rendered', include: rendered } },
      {
        test: {
          ...each,
          name: 'long',
          include: long,
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
