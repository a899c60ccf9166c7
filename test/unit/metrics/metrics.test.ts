import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { parseMetricsAddress } from '../../../src/cli/options.js';
import { startMetricsServer } from '../../../src/cli/schedule/health.js';
import { createMetrics, type MetricFacts } from '../../../src/metrics/metrics.js';

const at = new Date('2026-03-10T02:00:00Z');
const facts: MetricFacts = {
  at,
  isSwept: false,
  nights: [{ roster: 'retail', state: 'incomplete', failedControls: 0, lastSuccessAt: null }],
  cadenceSeconds: { high: 86_400 },
  rosters: [
    {
      roster: 'retail',
      groups: [
        { tier: 'high', status: 'valid', state: 'clear', failedBecause: null, customers: 5, oldestScreenedAt: at },
        {
          tier: 'high',
          status: 'never',
          state: 'not_screened',
          failedBecause: 'http_500',
          customers: 1,
          oldestScreenedAt: new Date(1_000),
        },
        {
          tier: 'low',
          status: 'valid',
          state: 'clear',
          failedBecause: null,
          customers: 2,
          oldestScreenedAt: new Date(0),
        },
      ],
    },
  ],
  runs: [
    {
      kind: 'rescreen',
      roster: 'retail',
      state: 'incomplete',
      startedAt: at,
      finishedAt: new Date(at.getTime() + 90_000),
      lastSuccessAt: null,
      failedControls: 0,
      isProven: null,
      calls: { ok: 5, 429: 2 },
      perSecond: 9.5,
      limitPerSecond: 10,
      repeated: 2,
      cost: { amount: 1.5, currency: 'EUR' },
    },
  ],
  openAlerts: [{ roster: 'retail', severity: 'critical', age: 'week', alerts: 3 }],
  outbox: [{ kind: 'mail_report', state: 'queued', entries: 2, oldestAt: at }],
  incidents: [{ kind: 'partial', open: 1 }],
  fleet: { openChunks: 12, workers: 3 },
};
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => /^nightscreen_/.test(line));

it('facts are told as figures, and what is no more is told no more', async () => {
  const metrics = createMetrics('1.2.3', { isLasting: false });
  const own = metrics.of(null);
  expect(linesOf(await metrics.write())).toEqual(
    expect.arrayContaining(['nightscreen_facts_readable 0', 'nightscreen_build_info{version="1.2.3"} 1']),
  );
  own.show(facts);
  const lines = linesOf(await metrics.write());
  expect(lines).toEqual(
    expect.arrayContaining([
      'nightscreen_customers{roster="retail",state="clear"} 7',
      'nightscreen_coverage_customers{roster="retail",tier="high",standing="never"} 1',
      'nightscreen_oldest_screening_timestamp_seconds{roster="retail",tier="high",searches="answered"} 1773108000',
      'nightscreen_oldest_screening_timestamp_seconds{roster="retail",tier="high",searches="failing"} 1',
      'nightscreen_night_success_timestamp_seconds{roster="retail"} 0',
      'nightscreen_night_state{roster="retail",state="incomplete"} 1',
      'nightscreen_last_run_calls{kind="rescreen",roster="retail",result="429"} 2',
      'nightscreen_last_run_duration_seconds{kind="rescreen",roster="retail"} 90',
      'nightscreen_last_run_cost{kind="rescreen",roster="retail",currency="EUR"} 1.5',
      'nightscreen_open_alerts{roster="retail",severity="critical",age="week"} 3',
      'nightscreen_open_chunks 12',
      'nightscreen_workers 3',
      'nightscreen_facts_readable 1',
    ]),
  );
  expect(lines.filter((line) => /last_success|sweep/.test(line))).toEqual([]);
  own.show({ ...facts, incidents: [], openAlerts: [] });
  own.showUnreadable();
  const later = linesOf(await metrics.write());
  expect(later.filter((line) => /incidents_open|open_alerts/.test(line))).toEqual([]);
  expect(later).toContain('nightscreen_facts_readable 0');
});

it('attempts are counted by operation and result, those that were never sent are not', async () => {
  const metrics = createMetrics('1.2.3', { isLasting: true });
  const { observer, noteJob } = metrics.of(null);
  const attempt = { operation: 'aml.search', method: 'POST', path: '/aml/search', startedAt: at };
  const end = { endedAt: at, bytes: 0, requestId: undefined, servedAt: undefined };
  observer.ended?.({ ...attempt, attempt: 1 }, { ...end, isSent: true, status: 503, outcome: 'error_status' });
  observer.ended?.({ ...attempt, attempt: 2 }, { ...end, isSent: true, status: 201, outcome: 'ok' });
  observer.ended?.({ ...attempt, attempt: 2 }, { ...end, isSent: false, status: null, outcome: 'aborted' });
  noteJob('sweep', 'failed');
  const text = await metrics.write();
  expect(linesOf(text).filter((line) => /_total/.test(line))).toEqual([
    'nightscreen_service_attempts_total{operation="aml.search",result="503"} 1',
    'nightscreen_service_attempts_total{operation="aml.search",result="ok"} 1',
    'nightscreen_service_repeats_total{operation="aml.search"} 1',
    'nightscreen_jobs_total{job="sweep",outcome="failed"} 1',
  ]);
  expect(text).toContain('nodejs_eventloop_lag_seconds');
});

it('a worker has chunks and workers only: no figure of it hides that the scheduler has none', async () => {
  const metrics = createMetrics('1.2.3', { isLasting: true, isWorker: true });
  const north = metrics.of('north');
  north.showFleet(facts.fleet);
  const told = [
    'nightscreen_build_info{version="1.2.3"} 1',
    'nightscreen_open_chunks{organisation="north"} 12',
    'nightscreen_workers{organisation="north"} 3',
  ];
  expect(linesOf(await metrics.write())).toEqual(told);
  north.showFleet(null);
  expect(linesOf(await metrics.write())).toEqual(told.slice(0, 1));
});

it('metrics, health and readiness are served, and nothing else', async () => {
  let isReady = true;
  const server = await startMetricsServer(parseMetricsAddress('127.0.0.1:0'), {
    write: async () => ({ text: 'x 1\n', contentType: 'text/plain; version=0.0.4' }),
    readiness: async () => ({ isReady, checks: { database: isReady ? 'reachable' : 'unreachable' } }),
  });
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return [answer.status, await answer.text()];
  };
  expect(await ask('/metrics')).toEqual([200, 'x 1\n']);
  expect(await ask('/healthz')).toEqual([200, 'ok\n']);
  expect(await ask('/readyz')).toEqual([200, 'database: reachable\n']);
  isReady = false;
  expect(await ask('/readyz?verbose')).toEqual([503, 'database: unreachable\n']);
  expect((await ask('/'))[0]).toBe(404);
  expect((await ask('/metrics', 'POST'))[0]).toBe(405);
  const taken = startMetricsServer(
    { host: '127.0.0.1', port: server.port },
    { write: async () => ({ text: '', contentType: '' }), readiness: async () => ({ isReady, checks: {} }) },
  );
  await expect(taken).rejects.toThrow(/--metrics: cannot listen on 127\.0\.0\.1:\d+/);
  await server.stop();
});

it('a name of another site that leads to this machine is refused, a configured one, an address and localhost are answered', async () => {
  const health = {
    write: async () => ({ text: 'x 1\n', contentType: 'text/plain' }),
    readiness: async () => ({ isReady: true, checks: {} }),
  };
  const server = await startMetricsServer(parseMetricsAddress('127.0.0.1:0'), health, ['nightscreen.svc']);
  const ask = async (host: string, path: string): Promise<number | undefined> => {
    const asked = request({ port: server.port, host: '127.0.0.1', path, headers: { host } }).end();
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    answer?.resume();
    return answer?.statusCode;
  };
  for (const path of ['/metrics', '/healthz', '/readyz']) expect(await ask('evil.example', path)).toBe(421);
  expect(await ask('127.0.0.1.evil.example:9464', '/metrics')).toBe(421);
  for (const host of ['10.0.0.7:9464', '[::1]:9464', 'localhost', 'Nightscreen.svc:9464']) {
    expect(await ask(host, '/metrics')).toBe(200);
  }
  await server.stop();
});

it.each(['9464', ':', ':99999', 'host', 'a b:1'])('%j is refused as an address', (text) => {
  expect(() => parseMetricsAddress(text)).toThrow('must be an address such as :9464');
});

it('an address may have a host, an IPv6 one in brackets, or none', () => {
  expect([':9464', '127.0.0.1:1', '[::1]:2'].map(parseMetricsAddress)).toEqual([
    { host: undefined, port: 9464 },
    { host: '127.0.0.1', port: 1 },
    { host: '::1', port: 2 },
  ]);
});
