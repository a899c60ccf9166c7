import { defineConfig } from 'vitest/config';

// These measure time or start processes: nothing of another test may be left in theirs.
const apart = ['test/e2e/**/*.test.ts', 'test/integration/client/**/*.test.ts'];
// `npm run test:long`: they kill, pause and time real processes for minutes, one file after another so that none slows another down.
const long = ['test/long/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/database-broker.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    reporters: ['default'],
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      // The others share what they load, which is a fifth of their time.
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: [...apart, ...long], isolate: false },
      },
      { extends: true, test: { name: 'long', include: long, fileParallelism: false } },
    ],
  },
});
