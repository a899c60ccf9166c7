import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// These start processes: nothing of another test may be left in theirs.
const apart = ['test/e2e/**/*.test.ts'];
// `npm run test:long`: they kill, pause and time real processes for minutes; those that hold to a time or to an amount of memory come last, one
// file after another so that none slows another down.
const long = ['test/long/**/*.test.ts'];
const timed = [
  'csv-bombs',
  'lease-takeover',
  'long-transactions',
  'not-screened-size',
  'outage',
  'pace-promises',
  'sandbox-real-lists',
  'screening-size',
  'stopping',
  'wide-rosters',
].map((name) => `test/long/${name}.test.ts`);
// `npm run test:rendered`: what a reader sees, in a headless Chromium and in LibreOffice.
const rendered = ['test/rendered/**/*.test.ts'];
// Whole runs are tried on Postgres first; `npm run test:embedded` has those on the embedded database, where each takes several times as long.
const runs = ['test/integration/runs/**/*.test.ts'];
const runsFolder = join(import.meta.dirname, 'test/integration/runs');
const onEmbedded = readdirSync(runsFolder, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) => name.endsWith('.test.ts') && readFileSync(join(runsFolder, name), 'utf8').includes('OnEachDatabase('),
  )
  .map((name) => `test/integration/runs/${name}`);
const databases = (name: 'embedded' | 'postgres') => ({ NIGHTSCREEN_TEST_DATABASE: name });

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/database-broker.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
    reporters: ['default'],
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      // The others share what they load, which is a fifth of their time.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...apart, ...runs, ...long, ...rendered],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'runs', include: runs, isolate: false, env: databases('postgres') } },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: onEmbedded,
          isolate: false,
          env: databases('embedded'),
          testTimeout: 120_000,
        },
      },
      { extends: true, test: { name: 'rendered', include: rendered, fileParallelism: false } },
      {
        extends: true,
        test: { name: 'long', include: long, exclude: timed, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'timed', include: timed, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
