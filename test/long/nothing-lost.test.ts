import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { reportJob } from '../../jobs/report.js';
import { sweepSettingsSchema } from '../../src/dossiers/sweep-dossiers.js';
import { ConfigError } from '../../src/errors.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { runSweep } from '../../src/runs/sweep-run.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { budgetSettingsSchema } from '../../src/screening/budget.js';
import type { Database } from '../../src/store/database/database.js';
import { testDatabases } from '../helpers/databases.js';
import { showRun } from '../helpers/show-run.js';
import { listenAlong, openSitesAfterNight, openSmallSites, searched } from '../helpers/small-site.js';
import { buildSandboxDossier, fileOf, listed, people, toCsv, watchlist, writeRoster } from '../helpers/small-world.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const signal = new AbortController().signal;

const newlyListed = { watchlist: [...watchlist, listed('new', 'Tamsin Oyelaran')], dossiers: [] };

/** A process that dies right after the first transaction after which `isOver` holds. */
const dyingDatabase = (database: Database, isOver: () => Promise<boolean>): Database => {
  let isDead = false;
  return new Proxy(database, {
    get: (target, key) => {
      if (key === 'transaction') {
        const transaction: Database['transaction'] = async (work) => {
          if (isDead) throw new Error('killed');
          const result = await target.transaction(work);
          isDead = await isOver();
          if (isDead) throw new Error('killed');
          return result;
        };
        return transaction;
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};
const countRows = async (database: Database, sql: string): Promise<number> =>
  (await database.query(z.object({ count: z.number() }), `select count(*)::integer as count from ${sql}`))[0]?.count ??
  0;

const readFolder = async (folder: string): Promise<string> => {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = names
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
};

/** A live key searches only within a budget. */
const amplyPaid = budgetSettingsSchema.parse({ maxSearchesPerMonth: 1_000, pricePerSearch: 0.1 });

describe('what must not be lost, mixed up or told wrongly', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  const beginAfterNight = openSitesAfterNight(databases);
  const slow = (sandbox: Sandbox) => ({ service: { baseUrl: sandbox.url, rate: { perSecond: 400, concurrency: 1 } } });

  it('a change found by a run that was killed and cannot be resumed is in the next report', async () => {
    const { sandbox, database, work, run } = await beginAfterNight();
    sandbox.setWorld(newlyListed);
    const dying = dyingDatabase(
      database,
      async () => (await countRows(database, 'change_event where not is_baseline')) > 0,
    );
    await expect(run({ ...(await work()), database: dying }, { writeReport: true })).rejects.toThrow('killed');
    const next = await work();
    const summary = await run({ ...next, settingsDigest: 'other settings' }, { writeReport: true });
    expect(summary.state).toBe('complete');
    expect((await readFolder(next.settings.reports.dir)).includes('Tamsin Oyelaran')).toBe(true);
  });

  it('a change whose report could not be written is in the next report', async () => {
    const { sandbox, work, run } = await beginAfterNight();
    sandbox.setWorld(newlyListed);
    const dir = join(await mkdtemp(join(tmpdir(), 'nightscreen-full-')), 'full');
    await writeFile(dir, 'no folder');
    await expect(run(await work({ settings: { reports: { dir } } }), { writeReport: true })).rejects.toThrow();
    const next = await work();
    const summary = await run(next, { writeReport: true });
    expect(summary.state).toBe('complete');
    expect((await readFolder(next.settings.reports.dir)).includes('Tamsin Oyelaran')).toBe(true);
  });

  it('a stopped run with findings is not thrown away by a start with a wrong key', async () => {
    const { sandbox, database, work, run } = await beginAfterNight();
    sandbox.setWorld(newlyListed);
    const stopped = await run(await work({ settings: slow(sandbox) }), { maxSearches: 5 });
    expect(stopped).toMatchObject({ state: 'stopped', counts: { changes: 1 } });
    const live = { service: { ...slow(sandbox).service, mode: 'live' } } as const;
    await expect(work({ settings: live }).then((app) => run(app))).rejects.toThrow(ConfigError);
    expect(await showRun(database, 'default', stopped.runId)).toMatchObject({
      state: 'stopped',
      counts: { changes: 1 },
    });
    expect((await run(await work())).runId).toBe(stopped.runId);
  });

  it('onboarding a second file reads that file although an earlier onboarding was stopped', async () => {
    const { sandbox, work, run, roster } = await begin(people.slice(0, 3));
    await run(await work(), { kind: 'onboard', selection: 'new', maxSearches: 2 });
    const second = {
      ...roster,
      csv: {
        path: await writeRoster(['Aroha Ngata', 'Ciro Malvestuto']),
        delimiter: 'auto',
        encoding: 'auto',
        header: true,
      },
    } as const;
    const summary = await run(await work(), { kind: 'onboard', selection: 'new', roster: second });
    expect(summary.state).toBe('complete');
    expect([searched(sandbox, 'Aroha Ngata'), searched(sandbox, 'Ciro Malvestuto')]).toEqual([1, 1]);
  });

  it('`screen --all` asks about all although an earlier `screen --new` was stopped', async () => {
    const { work, run, roster } = await begin(people.slice(0, 3));
    await run(await work(), {});
    await writeFile(fileOf(roster), toCsv(people));
    await runImport(await work(), roster, signal);
    await run(await work(), { kind: 'screen', selection: 'new', importFirst: false, maxSearches: 1 });
    const all = await run(await work(), { kind: 'screen', selection: 'all', importFirst: false });
    expect(all).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6 } });
  });

  it('a night that begins 23.5 hours after a stopped one reads the roster of today', async () => {
    const { sandbox, work, run, roster } = await begin();
    const stopped = await run(await work({ offsetMs: -23.5 * hourMs, settings: slow(sandbox) }), { maxSearches: 3 });
    expect(stopped.state).toBe('stopped');
    await writeFile(fileOf(roster), toCsv([...people, 'Control Listed']));
    const before = searched(sandbox, 'Aroha Ngata');
    const night = await run(await work());
    expect.soft(night).toMatchObject({ state: 'complete', counts: { rows: 7 } });
    expect.soft(searched(sandbox, 'Aroha Ngata')).toBe(before + 1);
  });

  it('a run planned while the service was out of reach screens everybody under the key it then has', async () => {
    const { sandbox, work, run } = await begin();
    await run(await work());
    sandbox.setFaults([{ path: '/api_keys/public', status: 503, times: 100 }]);
    const live = { apiKey: sandbox.livePrivateKey, settings: { budget: amplyPaid } };
    const stopped = await run(await work(live));
    expect(stopped.state).toBe('stopped');
    sandbox.setFaults([]);
    const resumed = await run(await work(live));
    expect(resumed).toMatchObject({ state: 'complete', counts: { screened: 6 } });
  });

  it('what a test key found does not count as screened in a run that ends under a live key', async () => {
    const { sandbox, database, work, run } = await begin();
    await run(await work({ settings: slow(sandbox) }), { maxSearches: 4 });
    const resumed = await run(await work({ apiKey: sandbox.livePrivateKey, settings: { budget: amplyPaid } }));
    expect(resumed.state).toBe('complete');
    const facts = await showRun(database, 'default', resumed.runId);
    expect(facts.mode).toBe('live');
    expect(facts.states).toMatchObject({ not_screened: 0, open_alert: 2 });
  });

  it('what a sweep saw before it was stopped is reported by the next one', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    const { sandbox, database, work } = await begin();
    const settings = { sweep: { ...sweepSettingsSchema.parse({}), perPage: 20 } };
    sandbox.setWorld({ watchlist, dossiers: numbers.map((number) => buildSandboxDossier(number)) });
    await runSweep(await work({ settings }), { writeReport: false }, signal);
    sandbox.setWorld({
      watchlist,
      dossiers: numbers.map((number) =>
        buildSandboxDossier(number, number === 60 ? { status: 'needs_attention' } : {}),
      ),
    });
    sandbox.setFaults([{ path: '/dossiers', status: 500, times: 100, afterCalls: 1 }]);
    expect(await runSweep(await work({ settings }), { writeReport: false }, signal)).toMatchObject({
      state: 'stopped',
    });
    sandbox.setFaults([]);
    const sweep = await runSweep(await work({ settings }), { writeReport: false }, signal);
    const facts = await showRun(database, 'default', sweep.runId);
    expect(facts.dossierChanges.map((change) => change.kind)).toEqual(['dossier_status_changed']);
  });

  it('customers screened after the last controls of a run that passed are asked about again', async () => {
    const { sandbox, work, run } = await begin();
    const withAroha = { watchlist: [...watchlist, listed('aroha', 'Aroha Ngata')], dossiers: [] };
    sandbox.setWorld(withAroha);
    await run(await work({ offsetMs: -dayMs }));
    // The service goes blind after the controls of the first part.
    sandbox.setFaults([
      {
        name: 'Aroha Ngata',
        raw: { status: 201, body: '{"query":"Aroha Ngata","type":"person","total":0,"results":[]}' },
      },
    ]);
    const stop = new AbortController();
    const interrupted = listenAlong(await work({ settings: slow(sandbox) }), (event) => {
      if (event.kind === 'progress' && searched(sandbox, 'Aroha Ngata') === 2) stop.abort(new Error('asked to stop'));
    });
    expect(await run(interrupted, {}, stop.signal)).toMatchObject({
      state: 'stopped',
      // Found, but nothing of it is applied.
      counts: { changes: 0 },
    });
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const red = await run(await work());
    expect(red.state).toBe('incomplete');
    sandbox.setWorld(withAroha);
    const before = searched(sandbox, 'Aroha Ngata');
    const again = await run(await work());
    expect(again.state).toBe('complete');
    expect(searched(sandbox, 'Aroha Ngata')).toBe(before + 1);
  });

  const mailTo = async () => ({
    reports: { dir: await mkdtemp(join(tmpdir(), 'nightscreen-mail-')) },
    mail: {
      transport: 'file' as const,
      from: 'night@example.org',
      to: ['compliance@example.org'],
      recipients: [],
      earlyWarning: false,
    },
  });

  it('the mailed report of a night tells of the changes of every roster', async () => {
    const { sandbox, work, run, roster } = await begin();
    const other = toFileRoster('other', await writeRoster(['Aroha Ngata']));
    const past = await work({ offsetMs: -dayMs });
    await run(past);
    await run(past, { roster: other });
    sandbox.setWorld(newlyListed);
    const settings = { ...(await mailTo()), rosters: [roster, other] };
    const app = await work({ settings });
    await run(app, { writeReport: true });
    await run(app, { roster: other, writeReport: true });
    await reportJob.run(app);
    const unfolded = (await readFolder(join(settings.reports.dir, 'mail'))).replace(/\r?\n /g, ' ');
    expect(unfolded.match(/Subject: .*/g)).toEqual(expect.arrayContaining([expect.stringContaining('1 change')]));
  });

  it('hits of an onboarding are mailed although a quiet night has followed, and nothing is mailed twice', async () => {
    const { work, run } = await begin();
    const settings = await mailTo();
    const app = await work({ settings });
    await run(app, { kind: 'onboard', selection: 'new' });
    await run(app);
    await reportJob.run(app);
    const unfolded = (await readFolder(join(settings.reports.dir, 'mail'))).replace(/\r?\n /g, ' ');
    const subjects = unfolded.match(/Subject: .*/g);
    expect(subjects).toHaveLength(2);
    expect(subjects).toEqual(expect.arrayContaining([expect.stringContaining('first screening')]));
    await reportJob.run(app);
    expect((await readFolder(join(settings.reports.dir, 'mail'))).match(/Subject: .*/g)).toHaveLength(2);
  });

  it('a further revision leaves the former one in a folder of its own, also one whose digest was never noted', async () => {
    const { sandbox, work, run, database } = await begin();
    const settings = slow(sandbox);
    const app = await work({ settings });
    const stopped = await run(app, { maxSearches: 3, writeReport: true });
    const first = await readFile(join(stopped.artifacts ?? '', 'manifest.json'), 'utf8');
    await database.execute('update report set manifest_sha256 = null');
    const done = await run(app, { writeReport: true });
    expect(done.artifacts).toBe(stopped.artifacts);
    expect(await readFile(join(done.artifacts ?? '', 'revision-1', 'manifest.json'), 'utf8')).toBe(first);
    expect(await readFile(join(done.artifacts ?? '', 'manifest.json'), 'utf8')).not.toBe(first);
  });

  it('a match that a cut list hid is told as removed once a whole list lacks it', async () => {
    const { sandbox, work, run, database } = await begin(['Wilhelmina Achterberg']);
    await run(await work({ offsetMs: -2 * dayMs }));
    sandbox.setFaults([
      {
        name: 'Wilhelmina Achterberg',
        raw: { status: 201, body: '{"query":"Wilhelmina Achterberg","type":"person","total":1,"results":[]}' },
      },
    ]);
    await run(await work({ offsetMs: -dayMs }));
    sandbox.setWorld({ watchlist: watchlist.slice(1), dossiers: [] });
    const night = await run(await work());
    expect((await showRun(database, 'default', night.runId)).changes.map((change) => change.kind)).toEqual([
      'match_removed',
    ]);
  });

  it('what an abandoned run left in flight is counted as unknown, and its staged rows are gone', async () => {
    const { database, work, run, roster } = await begin();
    const dying = dyingDatabase(
      database,
      async () => (await countRows(database, `call where outcome = 'in_flight'`)) > 0,
    );
    await expect(run({ ...(await work()), database: dying })).rejects.toThrow('killed');
    const staged = dyingDatabase(database, async () => (await countRows(database, 'roster_staging')) > 0);
    await expect(runImport({ ...(await work()), database: staged }, roster, signal)).rejects.toThrow('killed');
    await run(await work());
    expect.soft(await countRows(database, `call where outcome = 'in_flight'`)).toBe(0);
    expect.soft(await countRows(database, 'roster_staging')).toBe(0);
  });
});
