import { expect, it } from 'vitest';
import {
  assessRoster,
  assessRunning,
  assessSweep,
  type RosterFacts,
  type WatchedSweep,
  type WatchFinding,
} from '../../../../src/scheduling/watchdog/findings.js';
import { compareIncidents, findWatching } from '../../../../src/scheduling/watchdog/watch.js';
import type { Incident } from '../../../../src/store/operations/incidents.js';
import type { NightFacts } from '../../../../src/store/operations/watch-facts.js';

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
  hasFailedControl: false,
  isProven: null,
  ...facts,
});
const due = { since: ago(7), waitsUntil: ago(-1), because: 'it was due' };
/** A newest night that has ended, unless the facts say otherwise. */
const rosterFacts = ({
  night: newest = night(),
  ...facts
}: Partial<RosterFacts> & { night?: NightFacts | null } = {}): RosterFacts => ({
  roster: 'retail',
  expected: due,
  begun: newest,
  ended: newest,
  isWaiting: false,
  failing: noneFailing,
  overdue: { customers: 0, oldestScreenedAt: null },
  ...facts,
});
const noneFailing = { customers: 0, newly: 0, aged: 0, since: null, run: null };
const incident = (facts: Partial<Incident> = {}): Incident => ({
  incidentId: 1,
  kind: 'customers_failing',
  subject: 'retail',
  roster: 'retail',
  reason: 'as told',
  mark: 'told',
  runId: 6,
  openedAt: ago(48),
  reportedAt: ago(30),
  timesReported: 1,
  recoveredAt: null,
  ...facts,
});
const compare = (open: readonly Incident[], findings: readonly WatchFinding[]) =>
  compareIncidents(open, findings, () => 'here');
const kinds = (facts: Parameters<typeof rosterFacts>[0], open: readonly Incident[] = []): readonly string[] =>
  assessRoster(rosterFacts(facts), open, now).map(({ kind, isKnown }) => (isKnown ? `${kind} (known)` : kind));

it('a night that began when it should and is complete is no alarm', () => {
  expect(kinds({})).toEqual([]);
});

it('a night that began before the time at which it was due, or never, did not run', () => {
  expect(kinds({ night: night({ takenAt: ago(30) }) })).toEqual(['did_not_run']);
  expect(kinds({ night: null })).toEqual(['did_not_run']);
  expect(kinds({ night: null, expected: null })).toEqual([]);
});

it('a roster whose turn comes after another that is being screened is not late yet', () => {
  expect(kinds({ night: night({ takenAt: ago(30) }), isWaiting: true })).toEqual([]);
});

it('what did not run is over when it has begun, not while it waits or nothing is expected', () => {
  const reported = incident({ kind: 'did_not_run', runId: 6, openedAt: ago(4) });
  const before = night({ runId: 6, takenAt: ago(30) });
  expect(kinds({ night: before, isWaiting: true }, [reported])).toEqual(['did_not_run']);
  expect(kinds({ night: before, expected: null }, [reported])).toEqual(['did_not_run']);
  expect(kinds({ night: night({ takenAt: ago(3) }), expected: null }, [reported])).toEqual([]);
  // The same run, gone on with.
  expect(kinds({ night: night({ runId: 6, takenAt: ago(3) }), expected: null }, [reported])).toEqual([]);
});

const begun = night({ runId: 8, name: 'run-8', state: 'running', takenAt: ago(0.2) });

it.each([
  ['partial', night({ state: 'stopped', reasons: ['no answer'] })],
  [
    'control_failed',
    night({ state: 'incomplete', reasons: ['1 of 2 control searches failed'], hasFailedControl: true }),
  ],
] as const)('%s stands while the next night is under way, and ends with a good one', (kind, ended) => {
  const [finding] = assessRoster(rosterFacts({ night: ended }), [], now);
  if (!finding) throw new Error('no finding');
  const reported = incident({ kind, runId: 7, mark: finding.mark });
  const meanwhile = assessRoster(rosterFacts({ begun, ended }), [reported], now);
  expect(compare([reported], meanwhile)).toEqual({ begun: [], again: [], over: [], dropped: [] });
  expect(meanwhile.map((one) => one.kind)).toEqual([kind]);
  const good = assessRoster(rosterFacts({ night: { ...begun, state: 'complete' } }), [reported], now);
  expect(compare([reported], good).over).toEqual([reported]);
});

it('what stopped stays told of while it is gone on with, or was given up for a newer one', () => {
  const reported = incident({ kind: 'partial', runId: 7, mark: 'stopped: no answer' });
  const before = night({ runId: 6 });
  const goneOn = night({ state: 'running', takenAt: ago(0.1) });
  expect(kinds({ begun: goneOn, ended: before }, [reported])).toEqual(['partial']);
  expect(kinds({ begun, ended: before }, [reported])).toEqual(['partial']);
  expect(kinds({ night: night({ takenAt: ago(0.1) }) }, [reported])).toEqual([]);
});

it('a control search that fails is told before the night ends', () => {
  const failed = night({ runId: 8, state: 'running', hasFailedControl: true });
  expect(kinds({ begun: failed, ended: night() })).toEqual(['control_failed']);
});

it('a night that is under way does not make customers who fail known', () => {
  const reported = incident({ runId: 7 });
  expect(kinds({ begun, ended: failingNight, failing: failing(0, 0) }, [reported])).toEqual(['customers_failing']);
});

it('customers who failed in a later run than the last night are told once, with that run', () => {
  const onboarded = { ...failing(1, 0), run: { runId: 9, name: 'onboard-9' } };
  const [finding] = assessRoster(rosterFacts({ night: failingNight, failing: onboarded }), [incident()], now);
  expect(finding).toMatchObject({ runId: 9, actions: [expect.stringContaining('onboard-9'), expect.anything()] });
  const reported = incident({ runId: 9, mark: finding?.mark ?? '' });
  const later = assessRoster(
    rosterFacts({ night: failingNight, failing: { ...onboarded, newly: 0 } }),
    [reported],
    new Date(now.getTime() + 24 * hourMs),
  );
  expect(compare([reported], later)).toEqual({ begun: [], again: [], over: [], dropped: [] });
});

it.each(['stopped', 'unbalanced', 'refused'] as const)('a run that ended %s is partial, with its reason', (state) => {
  const [finding, ...others] = assessRoster(
    rosterFacts({ night: night({ state, reasons: ['for 3 reasons'] }) }),
    [],
    now,
  );
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ kind: 'partial', reason: `2026-03-10-rescreen-7 ended ${state}: for 3 reasons` });
});

it('figures in a reason are no news, another reason is', () => {
  const markOf = (reason: string): string | undefined =>
    assessRoster(rosterFacts({ night: night({ state: 'incomplete', reasons: [reason] }) }), [], now)[0]?.mark;
  expect(markOf('the budget left out 12 customers')).toBe(markOf('the budget left out 13 customers'));
  expect(markOf('the budget left out 12 customers')).not.toBe(markOf('the service may be broken'));
});

it('a failed control search is told as that, whatever else the run says', () => {
  const failed = night({ state: 'incomplete', reasons: ['1 of 2 control searches failed'], hasFailedControl: true });
  expect(kinds({ night: failed, failing: { ...failing(9, 0), customers: 9 } })).toEqual(['control_failed']);
});

it('what a failed control search took back does not end the telling of those who fail', () => {
  const failed = night({ state: 'incomplete', hasFailedControl: true });
  expect(kinds({ night: failed }, [incident()])).toEqual(['control_failed', 'customers_failing (known)']);
});

const failingNight = night({ state: 'incomplete', failed: 2, reasons: ['2 customers could not be screened'] });
const failing = (newly: number, aged: number) => ({
  customers: 2,
  newly,
  aged,
  since: ago(50),
  run: { runId: 7, name: '2026-03-10-rescreen-7' },
});

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
  const findings = assessRoster(rosterFacts({ night: failingNight, failing: facts }), [incident()], now);
  expect(findings.map(({ kind, isKnown }) => [kind, isKnown])).toEqual([['customers_failing', false]]);
  expect(compare([incident()], findings).again).toHaveLength(1);
});

it('a run that is incomplete for another reason beside its failures is partial as well', () => {
  const both = night({ ...failingNight, reasons: ['the service may be broken', ...failingNight.reasons] });
  const findings = assessRoster(rosterFacts({ night: both, failing: failing(0, 0) }), [incident()], now);
  expect(findings.map(({ kind }) => kind)).toEqual(['partial', 'customers_failing']);
  expect(findings[0]?.reason).not.toContain('could not be screened');
});

it('a screening older than the cadence allows is an alarm with its age', () => {
  const [finding] = assessRoster(rosterFacts({ overdue: { customers: 1, oldestScreenedAt: ago(40) } }), [], now);
  expect(finding).toMatchObject({ kind: 'screening_overdue', reason: expect.stringContaining(ago(40).toISOString()) });
});

const running = { runId: 8, name: 'run-8', kind: 'rescreen', roster: 'retail', owner: 'host:1:abcd' };

it('a run is stuck when its process is gone for ten minutes, or is alive and saves nothing for too long', () => {
  const marks = (silentMs: number | null, activeAt: Date) =>
    assessRunning([{ ...running, silentMs, activeAt }], now).map(({ mark }) => mark);
  expect(marks(null, ago(1))).toEqual([]);
  expect(marks(null, ago(2))).toEqual(['idle']);
  expect(marks(9 * 60_000, ago(5))).toEqual([]);
  expect(marks(10 * 60_000, ago(1))).toEqual(['silent']);
});

const sweepFacts = (facts: Partial<WatchedSweep> & { newest?: NightFacts | null }): WatchedSweep => {
  const { newest = null, ...rest } = facts;
  return { begun: newest, ended: newest, expected: null, isWaiting: false, isPlanned: true, isRecent: true, ...rest };
};
const sweepKinds = (facts: Parameters<typeof sweepFacts>[0], open: readonly Incident[] = []): readonly string[] =>
  assessSweep(sweepFacts(facts), open).map(({ kind }) => kind);
const unproven = night({ name: 'sweep-9', state: 'incomplete', isProven: false });

it('a sweep is watched for its start where one is due, and for its proof', () => {
  const proven = night({ name: 'sweep-9', isProven: true });
  expect(sweepKinds({})).toEqual([]);
  expect(sweepKinds({ expected: due })).toEqual(['did_not_run']);
  expect(sweepKinds({ expected: due, isWaiting: true })).toEqual([]);
  expect(sweepKinds({ newest: proven, expected: due })).toEqual([]);
  expect(sweepKinds({ newest: unproven })).toEqual(['partial']);
});

it('whoever reads that a sweep is missing reads how to say that none is wanted', () => {
  const [finding] = assessSweep(sweepFacts({ expected: due }), []);
  expect(finding?.actions.slice(-2)).toEqual([
    'Start it now: nightscreen sweep',
    expect.stringContaining('write "sweep: off" below jobs in the configuration'),
  ]);
});

it('a sweep that was not proven stands until one has ended that was', () => {
  const reported = incident({ kind: 'partial', subject: 'sweep', roster: null, runId: 7 });
  expect(sweepKinds({ begun, ended: unproven }, [reported])).toEqual(['partial']);
  expect(sweepKinds({ begun: { ...unproven, state: 'running' }, ended: null }, [reported])).toEqual(['partial']);
  expect(sweepKinds({ newest: { ...begun, state: 'complete', isProven: true } }, [reported])).toEqual([]);
  // A sweep that is missing besides does not end it.
  expect(sweepKinds({ newest: { ...unproven, takenAt: ago(30) }, expected: due }, [reported])).toEqual([
    'did_not_run',
    'partial',
  ]);
});

it('what somebody swept once long ago is history', () => {
  expect(sweepKinds({ newest: unproven, isPlanned: false, isRecent: false })).toEqual([]);
  expect(sweepKinds({ newest: unproven, isPlanned: false })).toEqual(['partial']);
  const missing = incident({ kind: 'did_not_run', subject: 'sweep', roster: null });
  expect(sweepKinds({ isPlanned: false }, [missing])).toEqual([]);
});

it('news is what is not open yet, what has another mark, and what is open no more', () => {
  const [finding] = assessRoster(rosterFacts({ night: null }), [], now);
  if (!finding) throw new Error('no finding');
  const known = incident({ kind: 'did_not_run', mark: finding.mark });
  const none = { begun: [], again: [], over: [], dropped: [] };
  expect(compare([], [finding])).toEqual({ ...none, begun: [finding] });
  expect(compare([known], [finding])).toEqual(none);
  expect(compare([known], [])).toEqual({ ...none, over: [known] });
});

it('a roster that is called sweep is not the sweep', () => {
  const [finding] = assessRoster({ ...rosterFacts({ night: null }), roster: 'sweep' }, [], now);
  if (!finding) throw new Error('no finding');
  const ofSweeps = incident({ kind: 'did_not_run', subject: 'sweep', roster: null, mark: finding.mark });
  expect(compare([ofSweeps], [finding])).toEqual({ begun: [finding], again: [], over: [ofSweeps], dropped: [] });
});

it('what nobody watches any more is closed without a word, what another watchdog watches is left to it', () => {
  const open = [incident({ subject: 'gone', roster: 'gone' }), incident({ subject: 'other', roster: 'other' })];
  const watched = (roster: string, hours: number) => ({
    subject: `roster/${roster}`,
    watchedSince: ago(900),
    lastWatchedAt: ago(hours),
  });
  const context = {
    starts: [],
    subjects: ['roster/retail', 'job/report'],
    watched: [watched('gone', 25), watched('other', 23)],
    now,
  };
  const news = compareIncidents(open, [], (one) => findWatching(one, context));
  expect(news).toEqual({ begun: [], again: [], over: [], dropped: [open[0]] });
  expect(findWatching(incident(), context)).toBe('here');
  expect(findWatching(incident({ subject: 'sweep', roster: null }), context)).toBe('nowhere');
  const ofReport = incident({ kind: 'did_not_run', subject: 'report', roster: null });
  expect(findWatching(ofReport, context)).toBe('nowhere');
  expect(findWatching(ofReport, { ...context, starts: ['report'] })).toBe('here');
});
