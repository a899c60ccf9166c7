import { expect, it } from 'vitest';
import { compareIncidents } from '../../../../src/scheduling/watchdog/compare-incidents.js';
import { findExpectedStart } from '../../../../src/scheduling/watchdog/expected-start.js';
import { judgeJobs } from '../../../../src/scheduling/watchdog/judge-jobs.js';
import { judgeRoster, type RosterFacts } from '../../../../src/scheduling/watchdog/judge-roster.js';
import { judgeRunning, judgeSweep } from '../../../../src/scheduling/watchdog/judge-runs.js';
import type { Incident } from '../../../../src/store/incidents.js';
import type { NightFacts } from '../../../../src/store/watch-facts.js';

const hourMs = 3_600_000;
const now = new Date('2026-03-10T08:00:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * hourMs);

const night = (facts: Partial<NightFacts> = {}): NightFacts => ({
  runId: 7,
  name: '2026-03-10-rescreen-7',
  state: 'complete',
  reasons: [],
  takenAt: ago(6),
  failed: 0,
  hasFailedCanary: false,
  isProven: null,
  ...facts,
});
const rosterFacts = (facts: Partial<RosterFacts> = {}): RosterFacts => ({
  roster: 'retail',
  expected: { since: ago(7), because: 'it was due' },
  night: night(),
  isWaitingItsTurn: false,
  failing: { customers: 0, newly: 0, aged: 0, since: null },
  overdue: { customers: 0, oldestScreenedAt: null },
  ...facts,
});
const incident = (facts: Partial<Incident> = {}): Incident => ({
  incidentId: 1,
  kind: 'customers_failing',
  subject: 'retail',
  roster: 'retail',
  reason: 'as told',
  mark: 'told',
  runId: 6,
  openedAt: ago(48),
  toldAt: ago(30),
  timesTold: 1,
  recoveredAt: null,
  ...facts,
});
const kinds = (facts: Partial<RosterFacts>, open: readonly Incident[] = []): readonly string[] =>
  judgeRoster(rosterFacts(facts), open, now).map(({ kind, isKnown }) => (isKnown ? `${kind} (known)` : kind));

it('a night that began when it should and is complete is no alarm', () => {
  expect(kinds({})).toEqual([]);
});

it('a night that began before the time at which it was due, or never, did not run', () => {
  expect(kinds({ night: night({ takenAt: ago(30) }) })).toEqual(['did_not_run']);
  expect(kinds({ night: null })).toEqual(['did_not_run']);
  expect(kinds({ night: null, expected: null })).toEqual([]);
});

it('a roster whose turn comes after another that is being screened is not late yet', () => {
  expect(kinds({ night: night({ takenAt: ago(30) }), isWaitingItsTurn: true })).toEqual([]);
});

it.each(['stopped', 'unbalanced', 'refused'] as const)('a run that ended %s is partial, with its reason', (state) => {
  const [finding, ...others] = judgeRoster(
    rosterFacts({ night: night({ state, reasons: ['for 3 reasons'] }) }),
    [],
    now,
  );
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ kind: 'partial', reason: `2026-03-10-rescreen-7 ended ${state}: for 3 reasons` });
});

it('figures in a reason are no news, another reason is', () => {
  const markOf = (reason: string): string | undefined =>
    judgeRoster(rosterFacts({ night: night({ state: 'incomplete', reasons: [reason] }) }), [], now)[0]?.mark;
  expect(markOf('the budget left out 12 customers')).toBe(markOf('the budget left out 13 customers'));
  expect(markOf('the budget left out 12 customers')).not.toBe(markOf('the service may be broken'));
});

it('a failed control search is told as that, whatever else the run says', () => {
  const failed = night({ state: 'incomplete', reasons: ['1 of 2 control searches failed'], hasFailedCanary: true });
  expect(kinds({ night: failed, failing: { customers: 9, newly: 9, aged: 0, since: ago(30) } })).toEqual([
    'canary_failed',
  ]);
});

it('what a failed control search took back does not end the telling of those who fail', () => {
  const failed = night({ state: 'incomplete', hasFailedCanary: true });
  expect(kinds({ night: failed }, [incident()])).toEqual(['canary_failed', 'customers_failing (known)']);
});

const failingNight = night({ state: 'incomplete', failed: 2, reasons: ['2 customers could not be screened'] });
const failing = (newly: number, aged: number) => ({ customers: 2, newly, aged, since: ago(50) });

it('customers who fail are told once, and every night after that they are known', () => {
  expect(kinds({ night: failingNight, failing: failing(2, 0) })).toEqual(['customers_failing']);
  expect(kinds({ night: failingNight, failing: failing(0, 0) }, [incident()])).toEqual(['customers_failing (known)']);
  // Until the next night, what has just been told stands.
  expect(kinds({ night: failingNight, failing: failing(0, 0) }, [incident({ runId: 7 })])).toEqual([
    'customers_failing',
  ]);
});

it.each([
  ['new', failing(1, 0)],
  ['aged', failing(0, 1)],
] as const)('one that is %s is told, though others are known', (_what, facts) => {
  const findings = judgeRoster(rosterFacts({ night: failingNight, failing: facts }), [incident()], now);
  expect(findings.map(({ kind, isKnown }) => [kind, isKnown])).toEqual([['customers_failing', false]]);
  expect(compareIncidents([incident()], findings).again).toHaveLength(1);
});

it('a run that is incomplete for another reason beside its failures is partial as well', () => {
  const both = night({ ...failingNight, reasons: ['the service may be broken', ...failingNight.reasons] });
  const findings = judgeRoster(rosterFacts({ night: both, failing: failing(0, 0) }), [incident()], now);
  expect(findings.map(({ kind }) => kind)).toEqual(['partial', 'customers_failing']);
  expect(findings[0]?.reason).not.toContain('could not be screened');
});

it('a screening older than the cadence allows is an alarm with its age', () => {
  const [finding] = judgeRoster(rosterFacts({ overdue: { customers: 1, oldestScreenedAt: ago(40) } }), [], now);
  expect(finding).toMatchObject({ kind: 'screening_overdue', reason: expect.stringContaining(ago(40).toISOString()) });
});

const running = { runId: 8, name: 'run-8', kind: 'rescreen', roster: 'retail', owner: 'host:1:abcd' };

it('a run is stuck when its process is gone for ten minutes, or is alive and saves nothing for too long', () => {
  const marks = (silentMs: number | null, activeAt: Date) =>
    judgeRunning([{ ...running, silentMs, activeAt }], 2 * hourMs, now).map(({ mark }) => mark);
  expect(marks(null, ago(1))).toEqual([]);
  expect(marks(null, ago(2))).toEqual(['idle']);
  expect(marks(9 * 60_000, ago(5))).toEqual([]);
  expect(marks(10 * 60_000, ago(1))).toEqual(['silent']);
});

it('a sweep is watched for its start where one is due, and always for its proof', () => {
  const sweep = night({ name: 'sweep-9', isProven: true });
  expect(judgeSweep(null, null)).toEqual([]);
  expect(judgeSweep(null, { since: ago(1), because: 'due' }).map(({ kind }) => kind)).toEqual(['did_not_run']);
  expect(judgeSweep(sweep, { since: ago(7), because: 'due' })).toEqual([]);
  expect(judgeSweep({ ...sweep, state: 'incomplete', isProven: false }, null).map(({ kind }) => kind)).toEqual([
    'partial',
  ]);
});

it.each([
  ['finished', 0, 0],
  ['finished', 3, 0],
  ['finished', 1, 1],
  ['finished', 2, 1],
  ['missed', null, 1],
  ['interrupted', null, 0],
] as const)('a job that is %s with exit code %s gives %i findings', (state, exitCode, count) => {
  const job = {
    jobRunId: 1,
    job: 'report',
    occasion: 'x',
    localDate: '2026-03-10',
    dueAt: ago(2),
    state,
    isLate: false,
  };
  const rest = { attempts: 1, owner: null, begunAt: null, endedAt: null, exitCode, because: null, runIds: [] };
  expect(judgeJobs([{ ...job, ...rest }])).toHaveLength(count);
});

it('a start is expected once it is late, by the schedule in its own time zone', () => {
  const schedule = { cron: '0 2 * * *', timezone: 'Europe/Copenhagen' };
  const expect2 = (at: string, lateMs = 2 * hourMs): string | undefined =>
    findExpectedStart({ schedule }, lateMs, new Date(at))?.since.toISOString();
  expect(expect2('2026-03-10T02:59:00Z')).toBe('2026-03-09T00:59:00.000Z');
  expect(expect2('2026-03-10T03:00:00Z')).toBe('2026-03-10T00:59:00.000Z');
  const workdays = { cron: '0 2 * * 1-5', timezone: 'UTC' };
  const sunday = findExpectedStart({ schedule: workdays }, 0, new Date('2026-03-08T12:00:00Z'));
  expect(sunday?.since.toISOString()).toBe('2026-03-06T01:59:00.000Z');
  expect(findExpectedStart({ schedule: { cron: '0 0 29 2 *', timezone: 'UTC' } }, 0, now)).toBeNull();
});

it('without a schedule the last start may be as old as the cadence and the delay allow', () => {
  const expected = findExpectedStart({ everyMs: 24 * hourMs }, 2 * hourMs, now);
  expect(expected?.since).toEqual(ago(26));
});

it('news is what is not open yet, what has another mark, and what is open no more', () => {
  const [finding] = judgeRoster(rosterFacts({ night: null }), [], now);
  if (!finding) throw new Error('no finding');
  const known = incident({ kind: 'did_not_run', mark: finding.mark });
  expect(compareIncidents([], [finding])).toMatchObject({ begun: [finding], again: [], over: [] });
  expect(compareIncidents([known], [finding])).toEqual({ begun: [], again: [], over: [] });
  expect(compareIncidents([known], [])).toEqual({ begun: [], again: [], over: [known] });
});
