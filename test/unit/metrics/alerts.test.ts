import { describe, expect, it } from 'vitest';
import { createMetrics, type MetricFacts } from '../../../src/metrics/metrics.js';
import { evaluatePromql, listFiring } from '../../helpers/alert-rules.js';

const now = new Date('2026-11-22T09:00:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

type RunFigures = MetricFacts['runs'][number];

const run = (changes: Partial<RunFigures>): RunFigures => ({
  kind: 'rescreen',
  roster: 'retail',
  state: 'complete',
  startedAt: ago(7),
  finishedAt: ago(6),
  lastSuccessAt: ago(6),
  failedControls: 0,
  isProven: null,
  calls: { ok: 100 },
  perSecond: 9,
  limitPerSecond: 10,
  repeated: 0,
  cost: null,
  ...changes,
});
const sweep = (changes: Partial<RunFigures> = {}): RunFigures =>
  run({ kind: 'sweep', roster: null, isProven: true, ...changes });
const night = { roster: 'retail', state: 'complete', failedControls: 0, lastSuccessAt: ago(6) };
const group = {
  tier: 'high',
  status: 'valid',
  state: 'clear',
  failedBecause: null,
  customers: 5,
  oldestScreenedAt: ago(7),
} as const;

/** The morning after a night that was as it should be. */
const good: MetricFacts = {
  at: now,
  isSwept: true,
  nights: [night],
  runs: [run({}), sweep()],
  rosters: [{ roster: 'retail', groups: [group] }],
  cadenceSeconds: { high: 24 * 3_600 },
  openAlerts: [{ roster: 'retail', severity: 'critical', age: 'day', alerts: 3 }],
  outbox: [{ kind: 'mail_report', state: 'queued', entries: 1, oldestAt: ago(1) }],
  incidents: [],
  fleet: null,
};

async function writeText(facts: MetricFacts): Promise<string> {
  const metrics = createMetrics('1.0.0', { isLasting: false });
  metrics.of(null).show(facts);
  return metrics.write();
}
const fire = async (changes: Partial<MetricFacts>): Promise<readonly string[]> =>
  listFiring(await writeText({ ...good, ...changes }), now);

describe('the shipped alerts', () => {
  it('are silent on the morning after a good night', async () => {
    expect(await fire({})).toEqual([]);
  });

  it.each<[string, Partial<MetricFacts>, readonly string[]]>([
    [
      'an onboarding in March whose control searches failed, and every night since was well',
      {
        runs: [
          run({}),
          sweep(),
          run({ kind: 'onboard', state: 'incomplete', failedControls: 1, startedAt: ago(6_000) }),
        ],
      },
      [],
    ],
    [
      'one run over new customers that was not complete in March, and a tenth of its calls were too many',
      {
        runs: [
          run({}),
          sweep(),
          run({ kind: 'screen', state: 'stopped', calls: { ok: 1, 429: 9 }, startedAt: ago(6_000) }),
        ],
      },
      [],
    ],
    [
      'a roster that is configured and was never screened',
      { nights: [night, { ...night, roster: 'core', state: null, lastSuccessAt: null }] },
      ['NeverScreened'],
    ],
    [
      'a roster whose nights have all been incomplete',
      { nights: [{ ...night, state: 'incomplete', lastSuccessAt: null }] },
      ['NeverScreened', 'NightNotComplete'],
    ],
    ['a night that did not run', { nights: [{ ...night, lastSuccessAt: ago(30) }] }, ['NoSuccess']],
    ['a night that was stopped', { nights: [{ ...night, state: 'stopped' }] }, ['NightNotComplete']],
    [
      'a night whose control searches failed',
      { nights: [{ ...night, state: 'incomplete', failedControls: 2 }] },
      ['NightNotComplete', 'ControlFailed'],
    ],
    ['a sweep that is three days old', { runs: [run({}), sweep({ lastSuccessAt: ago(72) })] }, ['SweepOld']],
    ['a sweep that is planned and was never made', { runs: [run({})] }, ['SweepOld']],
    ['a sweep that is not proven', { runs: [sweep({ state: 'incomplete', isProven: false })] }, ['SweepUnproven']],
    [
      'a sweep that was stopped before it could be proven',
      { runs: [sweep({ state: 'stopped', isProven: null })] },
      ['SweepUnproven'],
    ],
    [
      'an old sweep where none are made any more',
      { isSwept: false, runs: [sweep({ state: 'stopped', lastSuccessAt: ago(999) })] },
      [],
    ],
    [
      'a customer who was left out',
      { rosters: [{ roster: 'retail', groups: [{ ...group, status: 'overdue', oldestScreenedAt: ago(26) }] }] },
      ['ScreeningTooOld', 'NotCovered'],
    ],
    [
      'a customer whose searches fail every night',
      {
        rosters: [
          {
            roster: 'retail',
            groups: [group, { ...group, status: 'overdue', failedBecause: 'http_422', oldestScreenedAt: ago(900) }],
          },
        ],
      },
      ['NotCovered'],
    ],
    [
      'a mail that was refused',
      { outbox: [{ kind: 'mail_report', state: 'refused', entries: 1, oldestAt: ago(1) }] },
      ['MailWaits'],
    ],
    [
      'a webhook that takes nothing',
      { outbox: [{ kind: 'webhook', state: 'queued', entries: 1, oldestAt: ago(5) }] },
      ['MailWaits'],
    ],
    ['too fast a pace last night', { runs: [run({ calls: { ok: 8, 429: 2 } }), sweep()] }, ['RateComplaints']],
    [
      'a critical alert of last week',
      { openAlerts: [{ roster: 'retail', severity: 'critical', age: 'week', alerts: 1 }] },
      ['CriticalAlertsWait'],
    ],
    ['an incident', { incidents: [{ kind: 'stuck', open: 1 }] }, ['IncidentOpen']],
    ['figures of the day before yesterday', { at: ago(40) }, ['FiguresOld']],
  ])('%s', async (_, changes, expected) => {
    expect(await fire(changes)).toEqual(expected);
  });

  it('leave a roster that was configured this morning its first night', async () => {
    const text = await writeText({
      ...good,
      nights: [night, { ...night, roster: 'core', state: null, lastSuccessAt: null }],
    });
    expect(listFiring(text, now, await writeText(good))).toEqual([]);
  });

  it('fire when the figures can no longer be read, and go on about what was read last', async () => {
    const metrics = createMetrics('1.0.0', { isLasting: true });
    const own = metrics.of(null);
    own.show({ ...good, nights: [{ ...night, failedControls: 1 }] });
    own.showUnreadable();
    expect(listFiring(await metrics.write(), now)).toEqual(['FiguresOld', 'ControlFailed']);
  });

  it('fire about one organisation although the same roster of another is well', async () => {
    const metrics = createMetrics('1.0.0', { isLasting: true });
    const [north, south] = [metrics.of('north'), metrics.of('south')];
    south.show(good);
    north.show({ ...good, nights: [{ ...night, lastSuccessAt: ago(30), failedControls: 1 }] });
    expect(listFiring(await metrics.write(), now)).toEqual(['NoSuccess', 'ControlFailed']);
    south.showUnreadable();
    expect(listFiring(await metrics.write(), now)).toContain('FiguresOld');
    expect(await metrics.write()).toContain(
      'nightscreen_night_controls_failed{roster="retail",organisation="north"} 1',
    );
  });

  it('take a process that has read nothing yet for one that is there, and nobody for nobody', async () => {
    const metrics = createMetrics('1.0.0', { isLasting: true });
    metrics.of(null);
    expect(listFiring(await metrics.write(), now)).toEqual(['FiguresOld']);
    expect(listFiring('', now)).toEqual(['Down']);
  });
});

it('an expression is evaluated as Prometheus does, or not at all', () => {
  const text = 'a{x="1",y="u"} 5\na{x="2",y="v"} 7\nb{x="1"} 2\n';
  const at = { atSeconds: 100, readText: (offsetSeconds: number) => (offsetSeconds === 7_200 ? 'a{x="1"} 1\n' : text) };
  const evaluate = (expression: string) => evaluatePromql(expression, at);
  expect(evaluate('time() - 2 * 3 - 4')).toBe(90);
  expect(evaluate('sum(a)')).toEqual([{ labels: {}, value: 12 }]);
  expect(evaluate('max by (x) (a{y!="v"}) - 1')).toEqual([{ labels: { x: '1' }, value: 4 }]);
  expect(evaluate('a{x=~"1|3"} > on (x) group_left () b')).toEqual([{ labels: { x: '1', y: 'u' }, value: 5 }]);
  expect(evaluate('min by (x) (a) unless b')).toEqual([{ labels: { x: '2' }, value: 7 }]);
  expect(evaluate('b or max by (x) (a) < 6 and b == 3')).toEqual([{ labels: { x: '1' }, value: 2 }]);
  expect(evaluate('a offset 2h')).toEqual([{ labels: { x: '1' }, value: 1 }]);
  expect(evaluate('absent(c) > 0')).toEqual([{ labels: {}, value: 1 }]);
  for (const unknown of ['rate(a[5m])', 'a ^ 2', 'avg(a)', 'a > bool 2', 'sum without (x) (a)', 'a / on () b']) {
    expect(() => evaluate(unknown), unknown).toThrow();
  }
});
