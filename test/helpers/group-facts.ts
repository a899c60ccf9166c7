import type { GroupFacts, GroupRosterFacts } from '../../src/reports/group.js';
import { stateOrder } from '../../src/vocabulary.js';
import { buildChange, buildControl, buildParty, buildRunFacts } from './run-facts.js';

export const night = new Date('2026-03-02T02:00:00Z');
const hourMs = 3_600_000;
const at = (hours: number): Date => new Date(night.getTime() + hours * hourMs);
const nothing = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

/** A run of the night over all due customers. */
export function buildNightRun(
  changes: Partial<GroupRosterFacts['runs'][number]> = {},
): GroupRosterFacts['runs'][number] {
  const { counts, states, watch } = buildRunFacts();
  return {
    runId: '2026-03-02-rescreen-7',
    kind: 'rescreen',
    state: 'complete',
    exitCode: 0,
    reasons: [],
    held: [],
    wantsAll: true,
    startedAt: at(0),
    finishedAt: at(1),
    counts,
    states: states && { ...states, not_screened: 0 },
    controls: [buildControl()],
    watch,
    changes: 0,
    baseline: 0,
    ...changes,
  };
}

/** A roster with a complete night, and no alert. */
export function buildRoster(roster: string, changes: Partial<GroupRosterFacts> = {}): GroupRosterFacts {
  return {
    roster,
    isConfigured: true,
    isImported: true,
    mode: 'live',
    runs: [buildNightRun()],
    changed: [{ changes: nothing, baseline: nothing }],
    before: { runId: '2026-03-01-rescreen-3', state: 'complete', startedAt: at(-24) },
    cadence: null,
    customers: {
      inScope: 1_000,
      states: stateOrder.map((code) => ({ code, count: code === 'clear' ? 1_000 : 0 })),
      uncovered: { never: 0, overdue: 0, others: 0 },
    },
    uncovered: null,
    alerts: { waiting: 0, overdue: 0, opened: 0, oldestAt: null, bySeverity: [] },
    held: [],
    urgent: [],
    reports: new Map(),
    ...changes,
  };
}

/** The facts of a night of these rosters, as of 06:00. */
export const buildGroupFacts = (
  rosters: readonly GroupRosterFacts[],
  changes: Partial<GroupFacts> = {},
): GroupFacts => ({
  name: 'group-2026-03-02',
  organisation: 'default',
  timezone: 'UTC',
  version: '0.1.0',
  from: new Date(night.getTime() - 60_000),
  until: at(4),
  isCurrent: true,
  isNight: true,
  dueAt: night,
  rosters,
  jobs: [],
  budget: { calls: 4_000, cost: { amount: 120, currency: 'EUR' }, accounts: [] },
  pause: null,
  ...changes,
});

/** Rosters of every kind: complete, with alerts and changes, held, refused, stopped, in progress, not begun, former and never imported. */
export function buildTroubledFacts(): GroupFacts {
  const urgent = buildChange({ severity: 'critical', party: buildParty({ reference: 'C-77', name: 'Ada Nobody' }) });
  const withAlerts = {
    alerts: {
      waiting: 5,
      overdue: 1,
      opened: 2,
      oldestAt: at(-24 * 12),
      bySeverity: [
        { severity: 'critical', waiting: 3, overdue: 1, opened: 2 },
        { severity: 'medium', waiting: 2, overdue: 0, opened: 0 },
      ],
    },
    changed: [{ changes: { ...nothing, critical: 2, low: 4 }, baseline: nothing }],
    urgent: [{ ...urgent, runId: '2026-03-02-rescreen-7' }],
    reports: new Map([['2026-03-02-rescreen-7', '../2026-03-02-rescreen-7/report.html']]),
  } satisfies Partial<GroupRosterFacts>;
  const held = {
    runs: [buildNightRun({ state: 'incomplete', exitCode: 3, held: [{ kind: 'answers', accepted: [] }] })],
    held: [
      {
        runId: '2026-03-02-rescreen-7',
        kind: 'answers',
        reasons: ['12 of 12 known hits are missing.'],
        command: 'nightscreen runs accept 2026-03-02-rescreen-7 --by NAME --reason TEXT',
      },
    ],
  } satisfies Partial<GroupRosterFacts>;
  const stopped = buildNightRun({
    state: 'stopped',
    exitCode: 4,
    reasons: ['the budget of the month is used up'],
    states: null,
  });
  const refused = buildNightRun({ state: 'refused', exitCode: 2, reasons: ['retail.csv: there is no such file'] });
  const running = buildNightRun({ state: 'running', finishedAt: null, states: null, counts: null });
  return buildGroupFacts([
    buildRoster('retail', withAlerts),
    buildRoster('wealth'),
    buildRoster('loans', held),
    buildRoster('cards', { runs: [refused] }),
    buildRoster('leasing', { runs: [stopped] }),
    buildRoster('savings', { runs: [running] }),
    buildRoster('pensions', { runs: [] }),
    buildRoster('insurance', { runs: [], isConfigured: false, ...withAlerts, changed: [], urgent: [] }),
    buildRoster('brokerage', { runs: [], isImported: false, before: null, customers: null, alerts: null, mode: null }),
  ]);
}
