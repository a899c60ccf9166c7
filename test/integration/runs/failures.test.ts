import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { describeRun } from '../../../src/runs/describe-run.js';
import { resumeRun } from '../../../src/runs/resume-run.js';
import { listRuns } from '../../../src/runs/run-reference.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { readRows, testDatabases } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import {
  listenAlong,
  listSearches,
  makeAcceptance,
  openSitesAfterNight,
  openSmallSites,
  searched,
} from '../../helpers/small-site.js';
import { controls, dayMs, fileOf, people, signal } from '../../helpers/small-world.js';

describe('a screening with failures', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  /** A site after a complete night; `prepared` is its run. */
  const beginAfterNight = openSitesAfterNight(databases);

  it('a failed search is not waited for and never reports a removed match, and the run lists the customers that were not screened', async () => {
    const { sandbox, database, work, run } = await beginAfterNight();
    sandbox.setFaults([
      { name: 'Wilhelmina Achterberg', status: 400 },
      {
        name: 'Oktavian Prunescu',
        times: 3,
        raw: { status: 201, body: '{"query":"Oktavian Prunescu","type":"person","total":0}' },
      },
      { name: 'Aroha Ngata', status: 503, times: 10_000 },
    ]);
    const app = await work({ settings: { run: { deadline: '60s' } } });
    const night = await run(app);
    expect(night).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      counts: { planned: 6, screened: 3, failed: 3, changes: 0 },
    });
    expect(app.events).not.toContainEqual(expect.objectContaining({ code: 'waiting_for_service' }));
    expect(searched(sandbox, 'Aroha Ngata')).toBe(8);
    const facts = await showRun(database, 'default', night.runId);
    expect(facts.notScreened.map((one) => [one.party.reference, one.outcome, one.reason]).toSorted()).toEqual([
      ['C-1', 'failed', 'http_400'],
      ['C-2', 'failed', 'invalid_body'],
      ['C-5', 'failed', 'http_503'],
    ]);
    // Two of them have an open alert, which a failed search does not hide.
    expect(facts.states).toMatchObject({ clear: 3, open_alert: 2, not_screened: 1 });
    // A run is found by its number or its complete id, not by a part of the id.
    expect((await showRun(database, 'default', '2')).runId).toBe(night.runId);
    await expect(showRun(database, 'default', night.runId.replace('rescreen', 'screen'))).rejects.toThrow(ConfigError);
  });

  it('an answer that says that it failed leaves its customer as a failed search does, and its hits are alerts all the same', async () => {
    const { sandbox, database, work, run } = await beginAfterNight();
    const say = (name: string, facts: object) => {
      const body = JSON.stringify({ query: name, type: 'person', total: 0, results: [], ...facts });
      return { name, times: 100, raw: { status: 201, body } };
    };
    const hit = {
      id: 'amla_x',
      name: 'X',
      schema: 'Person',
      match: true,
      score: 0.9,
      topics: [' Sanction ', 'SANCTION', ' '],
    };
    const failures = [
      say('Oktavian Prunescu', { Errors: [{ code: 'timeout' }] }),
      say('Tamsin Oyelaran', { total: 1, results: [{ ...hit, match: false }], complete: false }),
      say('Bertil Kvarnström', { total: 1, results: [{ ...hit, topics: [''] }] }),
      say('Aroha Ngata', { error: 'index unavailable' }),
      say('Ciro Malvestuto', { total: 1, results: [hit], status: 'partial' }),
    ];
    sandbox.setFaults(failures);
    const night = await run(await work());
    expect(night).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 3, failed: 3, changes: 2 } });
    const facts = await showRun(database, 'default', night.runId);
    expect(facts.notScreened.map(({ party, reason }) => [party.reference, reason]).toSorted()).toEqual([
      ['C-2', 'failed_answer'],
      ['C-3', 'failed_answer'],
      ['C-5', 'failed_answer'],
    ]);
    const alerts = await readRows(
      database,
      `select customer.reference, alert.severity, alert.rule, listed.topics from alert
       join party using (party_id) join customer using (customer_id) join listed_party listed using (listed_id)
       where not alert.is_baseline order by reference`,
    );
    expect(alerts).toEqual([
      { reference: 'C-4', severity: 'critical', rule: 'hit_without_topic', topics: [] },
      { reference: 'C-6', severity: 'critical', rule: 'sanction_hit_gained', topics: ['sanction'] },
    ]);

    // Still so in the next night, when nobody else has an answer either.
    sandbox.setFaults([...failures, say('Wilhelmina Achterberg', { success: false })]);
    const next = await work({ offsetMs: dayMs });
    expect(await run(next)).toMatchObject({ state: 'incomplete', counts: { screened: 2, failed: 4, changes: 0 } });
    const { total } = await measureCoverage(next, { list: 0 });
    expect(total).toMatchObject({ inScope: 6, failedBecause: { failed_answer: 4 } });

    sandbox.setFaults([]);
    const good = await work({ offsetMs: 2 * dayMs });
    expect(await run(good)).toMatchObject({ state: 'complete', counts: { screened: 6, failed: 0 } });
    const { states } = await showRun(database, 'default', '4');
    expect(states).toMatchObject({ clear: 2, open_alert: 4, not_screened: 0 });
  });

  it('a service that finds nobody any more makes the run incomplete before a customer is screened', async () => {
    const { sandbox, work, run } = await beginAfterNight();
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const before = listSearches(sandbox).length;
    const night = await run(await work());
    expect(night).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 6, changes: 0 } });
    expect(listSearches(sandbox).slice(before)).toHaveLength(controls.length);
  });

  it('a stop in the import, a rejected key, an outage and the limit of searches stop the run with every customer counted; it can be reported on, and the next start continues at the next customer', async () => {
    const { sandbox, work, run } = await begin();
    const countSearches = () => people.map((name) => searched(sandbox, name));

    const app = await work();
    const stopping = new AbortController();
    const stopped = listenAlong(app, (event) => {
      if (event.kind === 'stage_started' && event.stage === 'import') stopping.abort(new Error('asked to stop'));
    });
    await expect(run(stopped, {}, stopping.signal)).rejects.toThrow('asked to stop');
    const [report] = await runReports(app, {});
    const runId = report?.runId ?? '';
    expect(report).toMatchObject({ exitCode: 4 });
    expect(await describeRun(app, runId)).toMatchObject({ state: 'stopped', stage: 'started', heldBy: null });

    const wrongKey = await run(await work({ apiKey: 'private_sandbox_wrong' }));
    expect(wrongKey).toMatchObject({
      runId,
      state: 'stopped',
      exitCode: 4,
      counts: { planned: 6, remaining: 6, attempts: 0 },
    });

    sandbox.setFaults([{ path: '/aml/search', status: 401, afterCalls: 4 }]);
    const rejected = await run(await work({ rate: { perSecond: 400, concurrency: 1 } }));
    expect(rejected).toMatchObject({
      runId,
      state: 'stopped',
      exitCode: 4,
      counts: { planned: 6, screened: 2, remaining: 4 },
    });
    expect(countSearches().toSorted()).toEqual([0, 0, 0, 1, 1, 1]);

    sandbox.setFaults([{ path: '/aml/search', status: 503, times: 10_000 }]);
    const outage = await run(await work({ maxAttempts: 2, rate: { perSecond: 400, concurrency: 2 } }));
    expect(outage).toMatchObject({
      runId,
      state: 'stopped',
      exitCode: 4,
      counts: { screened: 2, failed: 0, remaining: 4 },
    });
    sandbox.setFaults([]);

    const beforeLimit = countSearches();
    const limited = await run(await work(), { maxSearches: 2 });
    expect(limited).toMatchObject({ state: 'stopped', exitCode: 4, counts: { screened: 4, remaining: 2 } });
    expect(await resumeRun(await work(), runId, signal)).toMatchObject({
      runId,
      state: 'complete',
      counts: { planned: 6, screened: 6, remaining: 0 },
    });
    const since = countSearches().map((count, index) => count - (beforeLimit[index] ?? 0));
    expect(since.toSorted()).toEqual([0, 0, 1, 1, 1, 1]);
  });

  it('a search that the service failed is repeated at the end of the run; repeats, cut connections and shared searches are counted as by the service', async () => {
    const { sandbox, work, run } = await begin([...people, 'Bertil  Kvarnström']);
    sandbox.setFaults([
      { name: 'Aroha Ngata', cut: 'after_work' },
      // As often as it is tried before the others.
      { name: 'Ciro Malvestuto', status: 503, times: 2 },
      { name: 'Tamsin Oyelaran', status: 429, retryAfter: '0' },
    ]);
    const summary = await run(await work({ maxAttempts: 2 }));
    const made = listSearches(sandbox).length;
    expect(made).toBe(people.length + 2 * controls.length + 4);
    // Two customers of one name need one search.
    expect(searched(sandbox, 'Bertil Kvarnström')).toBe(1);
    expect(summary).toMatchObject({
      state: 'complete',
      counts: { customers: 7, planned: 7, screened: 7, failed: 0, searches: 6, attempts: made },
    });
  });

  it('customers of rejected rows and absent customers are still screened, and a conflict rejects both rows', async () => {
    const { database, work, run, roster } = await beginAfterNight();
    await writeFile(
      fileOf(roster),
      'customer_id,type,name\nC-1,person,\nC-2,person,Oktavian Prunescu\nC-3,person,One Name\nC-3,person,Other Name\nC-4,person,Bertil Kvarnström\nC-4,person,Bertil Kvarnström\n',
    );
    const tonight = await work();
    const night = await run(tonight, { acceptRoster: await makeAcceptance(tonight) });
    expect(night.counts).toMatchObject({
      rows: 6,
      customers: 2,
      rejected: 3,
      duplicates: 1,
      planned: 6,
      screened: 6,
      changes: 0,
    });
    const facts = await showRun(database, 'default', night.runId);
    expect(facts.rejects.map((row) => [row.line, row.reason])).toEqual([
      [2, 'missing_name'],
      [4, 'conflicting_id'],
      [5, 'conflicting_id'],
    ]);
    expect(facts.rosterSource?.absent).toBe(2);
  });

  it('a roster that was never imported and a key of the other mode than agreed are refused before anything is searched, and leave no run behind', async () => {
    const { sandbox, database, work, run } = await begin();
    const service = { mode: 'live', baseUrl: sandbox.url, rate: { perSecond: 9, concurrency: 1 } } as const;
    await expect(work({ settings: { service } }).then((app) => run(app))).rejects.toThrow(ConfigError);
    await expect(run(await work(), { kind: 'screen', importFirst: false })).rejects.toThrow('never imported');
    expect(listSearches(sandbox)).toHaveLength(0);
    expect(await listRuns(database, 'default', 5)).toEqual([]);
  });
});
