import { expect, it } from 'vitest';
import { formatRun } from '../../../src/cli/present-run.js';
import type { RunSummary } from '../../../src/runs/run-summary.js';

const summary: RunSummary = {
  schema: 'nightscreen/run-summary/1',
  runId: '2026-01-01-onboard-7',
  roster: 'people',
  kind: 'onboard',
  state: 'complete',
  reasons: [],
  haltedBy: null,
  exitCode: 0,
  artifacts: null,
  counts: {
    rows: 10,
    customers: 9,
    rejected: 0,
    duplicates: 1,
    planned: 9,
    screened: 9,
    reused: 0,
    failed: 0,
    skipped: 0,
    remaining: 0,
    searches: 7,
    attempts: 12,
    matches: 3,
    hits: 1,
    changes: 4,
  },
};

it('each number of a closing line says what it counts: rows, customers, different searches, calls, matches, changes', () => {
  expect(formatRun(summary).trimEnd().split('\n').slice(2)).toEqual([
    'roster     10 rows = 9 customers + 0 rejected + 1 duplicates',
    'screening  9 customers planned = 9 screened + 0 reused + 0 failed + 0 remaining; 0 skipped',
    'searches   7 distinct; 12 calls, control searches and repeats included',
    'found      3 matches in the answers, 1 of them a hit; an answer that serves several customers counts once',
    'changes    4 since the last report, per customer and related party; without first screenings',
  ]);
});
