import { expect, it } from 'vitest';
import { toRunVerdict } from '../../../src/runs/run-summary.js';
import type { RunSums } from '../../../src/store/night/run-sums.js';

const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
const sums = (counts: Partial<RunSums['counts']> = {}, clear = 10): RunSums => ({
  counts: {
    rows: 12,
    customers: 10,
    rejected: 1,
    duplicates: 1,
    inScope: 10,
    planned: 10,
    screened: 10,
    reused: 0,
    failed: 0,
    skipped: 0,
    remaining: 0,
    searches: 10,
    attempts: 10,
    matches: 0,
    hits: 0,
    changes: 0,
    ...counts,
  },
  states: {
    clear,
    below_threshold: 0,
    false_positive: 0,
    truncated: 0,
    not_screened: 0,
    open_alert: 0,
    true_match: 0,
  },
  failedBecause: {},
  skippedBecause: {},
  unreadableParties: 0,
  baseline: none,
  changesBySeverity: none,
  attemptsByOutcome: {},
  possiblyBilledTwice: 0,
});
const fired = { configured: 2, missing: [], failed: 0 };
const assess = (end: Partial<Parameters<typeof toRunVerdict>[0]>) =>
  toRunVerdict({
    unapplied: 0,
    urgentOverBudget: 0,
    sums: sums(),
    disagreements: [],
    haltedBecause: null,
    controls: fired,
    alarms: [],
    mode: 'test',
    ...end,
  });

it('a run is complete only when everybody was screened, the controls fired and the sums hold', () => {
  expect(assess({})).toEqual({ state: 'complete', reasons: [] });
  expect(assess({ sums: sums({ screened: 9, failed: 1 }) })).toMatchObject({ state: 'incomplete' });
  expect(assess({ controls: { ...fired, failed: 1 } })).toMatchObject({ state: 'incomplete' });
  expect(assess({ haltedBecause: 'the service refused the account (401)' })).toMatchObject({ state: 'stopped' });
});

it('whom the budget leaves out was due, so that the run is never complete', () => {
  const { states, ...others } = sums({ planned: 9, screened: 9, skipped: 1 });
  const left = { ...others, states: { ...states, clear: 9, not_screened: 1 }, skippedBecause: { over_budget: 1 } };
  expect(assess({ sums: left })).toEqual({
    state: 'incomplete',
    reasons: ['the budget left out 1 customer who was due again'],
  });
});

it('without controls a run with a test key may be complete, a run with a live key may not', () => {
  const controls = { configured: 0, missing: ['match', 'none'] as const, failed: 0 };
  expect(assess({ controls })).toMatchObject({ state: 'complete' });
  expect(assess({ controls, mode: 'live' })).toMatchObject({ state: 'incomplete' });
});

it('a live run whose control searches expect only matches, or only nothing, is not complete', () => {
  for (const missing of ['match', 'none'] as const) {
    const controls = { ...fired, missing: [missing] };
    expect(assess({ controls })).toMatchObject({ state: 'complete' });
    expect(assess({ controls, mode: 'live' })).toMatchObject({ state: 'incomplete' });
  }
});

it('sums that do not hold make the run unbalanced and name both figures, whatever else happened', () => {
  const unbalanced = assess({ sums: sums({ rows: 13 }), haltedBecause: 'stopped on request' });
  expect(unbalanced.state).toBe('unbalanced');
  expect(unbalanced.reasons).toEqual(['rows = customers + rejected + duplicates does not hold: 13 is not 12']);
  expect(assess({ sums: sums({}, 9) }).state).toBe('unbalanced');
  expect(assess({ sums: sums({ planned: 9 }) }).state).toBe('unbalanced');
});
