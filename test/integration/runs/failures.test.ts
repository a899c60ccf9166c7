import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ConfigError, RosterError } from '../../../src/errors.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { resumeRun } from '../../../src/runs/resume-run.js';
import { listRuns, showRun } from '../../../src/runs/run-reference.js';
import { testDatabases } from '../../helpers/databases.js';
import { makeAcceptance, openSmallSites, searched } from '../../helpers/small-site.js';
import { canaries, fileOf, people } from '../../helpers/small-world.js';

const dayMs = 24 * 60 * 60 * 1_000;
const signal = new AbortController().signal;

describe('a screening that meets trouble', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('a failed search never reports a removed match, and says who was not screened', async () => {
    const { sandbox, database, work, run } = await begin();
    await run(await work({ offsetMs: -dayMs }));
    sandbox.setFaults([
      { name: 'Wilhelmina Achterberg', status: 400 },
      {
        name: 'Oktavian Prunescu',
        times: 3,
        raw: { status: 201, body: '{"query":"Oktavian Prunescu","type":"person","total":0}' },
      },
    ]);
    const night = await run(await work());
    expect(night).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      counts: { planned: 6, screened: 4, failed: 2, changes: 0 },
    });
    const facts = await showRun(database, night.runId);
    expect(facts.notScreened.map((one) => [one.party.reference, one.outcome, one.reason])).toEqual([
      ['C-1', 'failed', 'http_400'],
      ['C-2', 'failed', 'invalid_body'],
    ]);
    // Both have an alert that waits: a failed search hides none.
    expect(facts.states).toMatchObject({ clear: 4, open_hit: 2, not_screened: 0 });
  });

  it('a service that finds nothing any more turns the run red before a customer is asked about', async () => {
    const { sandbox, work, run } = await begin();
    await run(await work({ offsetMs: -dayMs }));
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const before = sandbox.ledger().length;
    const night = await run(await work());
    expect(night).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 6, changes: 0 } });
    expect(
      sandbox
        .ledger()
        .slice(before)
        .filter((call) => call.path === '/aml/search'),
    ).toHaveLength(canaries.length);
  });

  it('a rejected key stops the run with everybody counted, and the next start goes on at the next customer', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ path: '/aml/search', status: 401, afterCalls: 4 }]);
    const first = await work({
      settings: { service: { baseUrl: sandbox.url, rate: { perSecond: 400, concurrency: 1 } } },
    });
    const stopped = await run(first);
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { planned: 6, screened: 2, remaining: 4 } });
    const resumed = await run(await work());
    expect(resumed.runId).toBe(stopped.runId);
    expect(resumed).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6, remaining: 0 } });
    expect(people.map((name) => searched(sandbox, name)).toSorted()).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it('a wrong key from the start stops resumable with everybody remaining', async () => {
    const { work, run } = await begin();
    const stopped = await run(await work({ apiKey: 'private_sandbox_wrong' }));
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { planned: 6, remaining: 6, attempts: 0 } });
    expect(await run(await work())).toMatchObject({ state: 'complete', runId: stopped.runId, counts: { screened: 6 } });
  });

  it('an outage stops the run resumable and fails no customer', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ path: '/aml/search', status: 503, times: 10_000, afterCalls: 2 }]);
    const rate = { perSecond: 400, concurrency: 2 };
    const options = { maxAttempts: 2, settings: { service: { baseUrl: sandbox.url, rate } } };
    const stopped = await run(await work(options));
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { failed: 0, remaining: 6 } });
    sandbox.setFaults([]);
    expect(await resumeRun(await work(), stopped.runId, signal)).toMatchObject({
      state: 'complete',
      counts: { screened: 6 },
    });
  });

  it('what failed for the service\u2019s sake is asked again at the end of the run', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ name: 'Aroha Ngata', status: 503, times: 2 }]);
    expect(await run(await work({ maxAttempts: 2 }))).toMatchObject({
      state: 'complete',
      counts: { screened: 6, failed: 0 },
    });
  });

  it('the limit of searches stops the run, and what it left is asked next', async () => {
    const { sandbox, work, run } = await begin();
    const stopped = await run(await work(), { maxSearches: 4 });
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { screened: 4, remaining: 2 } });
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { screened: 6 } });
    expect(people.map((name) => searched(sandbox, name))).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('customers with the same request share one search', async () => {
    const { sandbox, work, run } = await begin(['Tamsin Oyelaran', 'Tamsin  Oyelaran', 'Ciro Malvestuto']);
    expect(await run(await work())).toMatchObject({ counts: { customers: 3, planned: 3, screened: 3, searches: 2 } });
    expect(searched(sandbox, 'Tamsin Oyelaran')).toBe(1);
  });

  it('the ledger equals the service\u2019s own count, repeats and cut connections included', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([
      { name: 'Aroha Ngata', cut: 'after_work' },
      { name: 'Ciro Malvestuto', status: 503, times: 2 },
      { name: 'Tamsin Oyelaran', status: 429, retryAfter: '0' },
    ]);
    const summary = await run(await work());
    const calls = sandbox.ledger().filter((call) => call.path === '/aml/search').length;
    expect(calls).toBe(people.length + 2 * canaries.length + 4);
    expect(summary).toMatchObject({ state: 'complete', counts: { attempts: calls } });
  });

  it('a key of the other mode than agreed is refused before anything is searched', async () => {
    const { sandbox, work, run } = await begin();
    const options = {
      settings: { service: { mode: 'live', baseUrl: sandbox.url, rate: { perSecond: 9, concurrency: 1 } } },
    } as const;
    await expect(work(options).then((app) => run(app))).rejects.toThrow(ConfigError);
    expect(sandbox.ledger().filter((call) => call.path === '/aml/search')).toHaveLength(0);
  });

  it('a rejected row never unscreens, an absent customer stays, and a conflict rejects both rows', async () => {
    const { database, work, run, roster } = await begin();
    await run(await work({ offsetMs: -dayMs }));
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
    const facts = await showRun(database, night.runId);
    expect(facts.rejects.map((row) => [row.line, row.reason])).toEqual([
      [2, 'missing_name'],
      [4, 'conflicting_id'],
      [5, 'conflicting_id'],
    ]);
    expect(facts.rosterSource?.absent).toBe(2);
    // Eight days by the clock, of which one had a snapshot.
    const later = await run(await work({ offsetMs: 8 * dayMs }));
    expect(later.counts).toMatchObject({ planned: 6 });
    const screening = { cadenceHours: 24, leaveAfterDays: 2, canariesEvery: 10_000, reuseMaxAge: 0 } as const;
    const last = await run(await work({ offsetMs: 9 * dayMs, settings: { screening } }));
    expect(last.counts).toMatchObject({ planned: 4 });
  });

  it('a roster without an acceptable row is refused and leaves the former snapshot whole', async () => {
    const { work, run, roster } = await begin();
    await run(await work({ offsetMs: -dayMs }));
    await writeFile(fileOf(roster), 'customer_id,type,name\nC-1,person,\n');
    await expect(runImport(await work(), roster, new AbortController().signal)).rejects.toThrow(RosterError);
    expect(await run(await work())).toMatchObject({ exitCode: 3, counts: { rows: 0, planned: 6, screened: 6 } });
  });

  it('a roster that was never imported is refused and leaves no run behind', async () => {
    const { database, work, run } = await begin();
    await expect(run(await work(), { kind: 'screen', importFirst: false })).rejects.toThrow('never imported');
    expect(await listRuns(database, 5)).toEqual([]);
  });

  it('a rejected row keeps its fields in the order of the file, NUL made visible', async () => {
    const { database, work, run, roster } = await begin();
    const rows = 'zeta,customer_id,type,name,alpha\n1,C-1,person,Tamsin Oyelaran,2\n3,C-2,person,Ta\u0000m,4\n';
    await writeFile(fileOf(roster), rows);
    const night = await run(await work());
    const [reject] = (await showRun(database, night.runId)).rejects;
    expect(Object.entries(reject?.fields ?? {})).toEqual([
      ['zeta', '3'],
      ['customer_id', 'C-2'],
      ['type', 'person'],
      ['name', 'Ta\u2400m'],
      ['alpha', '4'],
    ]);
  });

  it('a run is found by its number or by its whole name, never by half of it', async () => {
    const { database, work, run } = await begin();
    const { runId } = await run(await work());
    expect((await showRun(database, '1')).runId).toBe(runId);
    expect((await showRun(database, runId)).runId).toBe(runId);
    await expect(showRun(database, runId.replace('rescreen', 'screen'))).rejects.toThrow(ConfigError);
  });
});
