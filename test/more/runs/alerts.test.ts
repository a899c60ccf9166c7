import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { exportStatus } from '../../../src/runs/status.js';
import { type HoldBounds, screeningSettingsSchema, toHoldBounds } from '../../../src/screening/settings.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { importList } from '../../helpers/reviewers.js';
import { decide, makeAcceptance, openPreparedSites, type SmallSite } from '../../helpers/small-site.js';
import { dayMs, fileOf, listed, neverHeld, signal, watchlist } from '../../helpers/small-world.js';

const [first = listed('one', ''), second = listed('two', ''), control = listed('c', '')] = watchlist;

/** Below the threshold for C-2, under the same id. */
const weakSecond = { ...second, name: 'Oktavian Johanna Maria Prunescu' };
const exposed = listed('pep', 'Tamsin Oyelaran', ['role.pep']);
const exposedFourth = listed('pep4', 'Bertil Kvarnström', ['role.pep']);
/** Below the threshold for C-4. */
const weakFourth = listed('weak', 'Bertil Johanna Maria Kvarnström', ['role.pep']);
const firstWatchlist = [...watchlist, exposed];

/** The customers of the first night's two alerts. */
const listedCustomers = ['C-1', 'C-2'] as const;
type Listed = (typeof listedCustomers)[number];

const alertRow = z.object({
  alertId: z.number(),
  reference: z.string(),
  state: z.string(),
  absence: z.string().nullable(),
  openedAt: z.date(),
  dueAt: z.date().nullable(),
});
const readAlerts = (database: Database) =>
  database.query(
    alertRow,
    `select alert_id as "alertId", reference, alert.state, absence, opened_at as "openedAt", due_at as "dueAt"
     from alert join party using (party_id) join customer using (customer_id) order by reference, alert_id`,
  );
const readEvents = (database: Database, alertId: number | undefined) =>
  readColumn(
    database,
    z.string(),
    sql`select rtrim(concat_ws(' ', kind, array_to_string(reasons, ','))) from alert_event where alert_id = ${alertId ?? null} order by event_id`,
  );
const readState = async (database: Database, reference: string) => {
  const found = sql`select state, waiting, worst_topic from customer_screening_status where reference = ${reference}`;
  return (await readRows(database, found))[0];
};

describeOnPostgres('alerts and states', (_open, databases) => {
  const beginAfterNight = openPreparedSites(
    databases,
    async ({ work, run }) =>
      expect(await run(await work({ offsetMs: -20 * dayMs }))).toMatchObject({ state: 'complete' }),
    { world: { watchlist: firstWatchlist, dossiers: [] } },
  );

  const beginExposed = openPreparedSites(
    databases,
    async ({ work, run }) =>
      expect(await run(await work({ offsetMs: -20 * dayMs }))).toMatchObject({ state: 'complete' }),
    { world: { watchlist: [...firstWatchlist, exposedFourth], dossiers: [] } },
  );

  /** A site after its first night, with these alerts decided. */
  async function openDecided(verdicts: Partial<Record<Listed, DispositionVerdict>>) {
    const site = await beginAfterNight();
    const { database, sandbox, work, run } = site;
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      sandbox.setWorld({ watchlist: [...world, exposed, control], dossiers: [] });
      const app = await work({ offsetMs: -daysAgo * dayMs, settings: { screening: neverHeld } });
      expect(await run(app)).toMatchObject({ state: 'complete' });
    };
    const opened = await readAlerts(database);
    const find = (reference: Listed) =>
      opened.find((alert) => alert.reference === reference) ?? expect.unreachable(`no alert of ${reference}`);
    const say = (reference: Listed, verdict: DispositionVerdict) =>
      decide(database, [find(reference).alertId], { verdict });
    for (const reference of listedCustomers) {
      const verdict = verdicts[reference];
      if (verdict !== undefined) expect(await say(reference, verdict)).toMatchObject([{ kind: 'decided' }]);
    }
    const readAlert = async (reference: Listed) =>
      (await readAlerts(database)).find(({ alertId }) => alertId === find(reference).alertId);
    return { ...site, night, say, readAlert, find };
  }

  it('a false_positive and a true_match hold while only scores move, and over any accepted change of settings', async () => {
    const { sandbox, database, work, run } = await openDecided({ 'C-1': 'false_positive', 'C-2': 'true_match' });
    const expectHeld = async () =>
      expect(
        await readRows(
          database,
          `select last_state as state, waiting from customer_screening_status where reference in ('C-1', 'C-2') order by reference`,
        ),
      ).toEqual([
        { state: 'false_positive', waiting: 0 },
        { state: 'true_match', waiting: 0 },
      ]);
    await expectHeld();
    // Every score moves by less than the step, night after night.
    const play = async (seed: number, settings = {}) => {
      sandbox.setWorld({ watchlist: firstWatchlist, dossiers: [], ranking: { scoreNoise: 0.004, shuffleSeed: seed } });
      const night = await run(await work({ offsetMs: (seed - 2) * dayMs, settings }));
      expect(night).toMatchObject({ state: 'complete', counts: { changes: 0 }, openAlerts: { waiting: 1 } });
      await expectHeld();
    };
    await play(1);
    await play(2, { changes: changeSettingsSchema.parse({ scoreStep: 0.03 }) });
  });

  it('an undecided alert whose match is delisted or below the threshold waits for no_longer_matched, and keeps its age when it returns', async () => {
    const { database, night, say, readAlert, find } = await openDecided({});
    const absences = [
      ['C-1', 'not_returned', 'clear'],
      ['C-2', 'below_threshold', 'below_threshold'],
    ] as const;
    await night(6, weakSecond);
    for (const [reference, absence] of absences) {
      const { openedAt, dueAt } = find(reference);
      expect(await readAlert(reference)).toMatchObject({ state: 'open', absence, openedAt, dueAt });
      expect(await readState(database, reference)).toMatchObject({ state: 'open_alert', waiting: 1 });
    }
    await night(5, first, second);
    for (const reference of listedCustomers) {
      const { openedAt } = find(reference);
      expect(await readAlert(reference)).toMatchObject({ state: 'open', absence: null, openedAt });
      expect(await say(reference, 'no_longer_matched')).toMatchObject([{ kind: 'refused', reason: 'still_listed' }]);
    }
    await night(0, weakSecond);
    for (const [reference, , state] of absences) {
      expect(await say(reference, 'no_longer_matched')).toMatchObject([{ kind: 'decided' }]);
      expect(await readAlert(reference)).toMatchObject({ state: 'no_longer_matched' });
      expect(await readState(database, reference)).toMatchObject({ state, waiting: 0 });
    }
    await night(-1, first, second);
    for (const reference of listedCustomers) {
      const { openedAt } = find(reference);
      expect(await readAlert(reference)).toMatchObject({ state: 'open', absence: null, openedAt });
    }
  });

  it('a true match that is absent stays confirmed, due within one business day, until no_longer_matched; a false positive closes by itself with the reason, and holds again on return', async () => {
    const { database, night, say, readAlert } = await openDecided({ 'C-1': 'true_match', 'C-2': 'false_positive' });
    await night(6, weakSecond);
    const waiting = await readAlert('C-1');
    expect(waiting).toMatchObject({ state: 'open', absence: 'not_returned' });
    const waitsMs = (waiting?.dueAt?.getTime() ?? 0) - (waiting?.openedAt.getTime() ?? 0);
    expect(waitsMs).toBeGreaterThan(0);
    // A weekend may lie between.
    expect(waitsMs).toBeLessThanOrEqual(4 * dayMs);
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'true_match', waiting: 1 });
    expect(await readAlert('C-2')).toMatchObject({ state: 'no_longer_matched', absence: 'below_threshold' });
    // The true match is back as it was; the false positive is delisted.
    await night(5, first);
    expect(await readAlert('C-1')).toMatchObject({ state: 'true_match', absence: null });
    expect(await readAlert('C-2')).toMatchObject({ state: 'no_longer_matched' });
    await night(0, second);
    expect(await say('C-1', 'no_longer_matched')).toMatchObject([{ kind: 'decided' }]);
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'clear', waiting: 0 });
    expect(await readAlert('C-2')).toMatchObject({ state: 'false_positive', absence: null });
    expect(await readState(database, 'C-2')).toMatchObject({ state: 'false_positive', waiting: 0 });
    expect(await readEvents(database, (await readAlert('C-2'))?.alertId)).toEqual([
      'opened',
      'auto_closed below_threshold',
      'returned',
    ]);
  });

  it('a renamed customer keeps the alert that waits, not the settled one; a settled leaver leaves the scope; a confirmed customer stays confirmed when the listed birth date changes, and its alert waits again', async () => {
    const { sandbox, database, roster, work, run } = await beginExposed();
    const verdicts = [
      ['C-1', 'false_positive'],
      ['C-3', 'true_match'],
      ['C-4', 'false_positive'],
    ] as const;
    const opened = await readAlerts(database);
    for (const [of, verdict] of verdicts) {
      const ids = opened.filter(({ reference }) => reference === of).map(({ alertId }) => alertId);
      expect(await decide(database, ids, { verdict })).toMatchObject([{ kind: 'decided' }]);
    }
    const path = fileOf(roster);
    const text = (await readFile(path, 'utf8'))
      .replace('Wilhelmina Achterberg', 'Somebody Else Entirely')
      .replace('Oktavian Prunescu', 'Another Person Altogether')
      .replace('customer_id,type,name', 'customer_id,type,name,end')
      .replace(/^(C-\d.*)$/gm, (line) => (line.startsWith('C-4,') ? `${line},2020-01-01` : `${line},`));
    await writeFile(path, text);
    const listedNow = [first, second, { ...exposed, birth_date: ['1961-02-03'] }, exposedFourth, control];
    sandbox.setWorld({ watchlist: listedNow, dossiers: [], ranking: { scoreNoise: 0.004, shuffleSeed: 1 } });
    const settings = { ...roster, columns: { endDate: 'end' } };
    const app = await work({ settings: { rosters: [settings] } });
    await run(app, { roster: settings, acceptRoster: await makeAcceptance(app) });
    expect(await readAlerts(database)).toMatchObject([
      { reference: 'C-1', state: 'no_longer_matched', absence: 'customer_changed' },
      { reference: 'C-2', state: 'open', absence: 'customer_changed' },
      { reference: 'C-3', state: 'open', absence: null },
      { reference: 'C-4', state: 'false_positive' },
    ]);
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'clear' });
    expect(await readState(database, 'C-2')).toMatchObject({ state: 'open_alert' });
    expect(await readState(database, 'C-3')).toEqual({ state: 'true_match', waiting: 1, worstTopic: 'pep' });
    expect(await readState(database, 'C-4')).toBeUndefined();
    expect((await measureCoverage(app, { list: 0 })).total.inScope).toBe(5);
  });

  it('an id without an accepted record, and a customer who was never screened, are not screened, but in scope, coverage, status and sums', async () => {
    const { database, roster, work, run } = await beginAfterNight();
    await database.execute(
      `insert into unaccepted_customer (roster_id, reference, reason, since, run_id) values (1, 'C-99', 'roster_held', now(), 1)`,
    );
    const app = await work();
    const night = await run(app, { roster, importFirst: false });
    expect(night.counts).toMatchObject({ planned: 6, skipped: 1 });
    expect(night.state).not.toBe('unbalanced');
    const { total, isCovered } = await measureCoverage(app, { list: 0 });
    expect({ isCovered, total }).toMatchObject({
      isCovered: false,
      total: { inScope: 7, valid: 6, never: 1, failedBecause: { roster_held: 1 } },
    });
    const { batches, finish } = await exportStatus(app, {}, signal);
    for await (const _ of batches);
    expect(finish().sums).toMatchObject({ inScope: 7, notValid: 1, states: { not_screened: 1 } });

    await writeFile(fileOf(roster), `${await readFile(fileOf(roster), 'utf8')}C-7,person,Nobody Yet\n`);
    await runImport(app, roster, signal);
    const rows: unknown[] = [];
    const later = await exportStatus(app, {}, signal);
    for await (const batch of later.batches) rows.push(...batch);
    expect(rows).toHaveLength(7);
    expect(rows.at(-1)).toMatchObject({ state: 'not_screened', reason: 'never', neverScreened: true });
    expect(later.finish().sums).toMatchObject({ inScope: 7, notValid: 1 });
    expect(await readRows(database, 'select from customer_screening_status where never_screened')).toHaveLength(1);
  });

  /** What plays nights of a site under `review.autoClose`; the first run records settings without it. */
  const toClosing = (site: SmallSite, bounds: Partial<HoldBounds>) => {
    const { sandbox, work, run } = site;
    const settings = {
      review: reviewSettingsSchema.parse({ autoClose: true }),
      screening: { ...screeningSettingsSchema.parse({ reuseMaxAge: '20h' }), hold: toHoldBounds(bounds) },
    };
    const workAt = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs, settings: daysAgo > 19 ? {} : settings });
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      sandbox.setWorld({ watchlist: [...world, control], dossiers: [] });
      return run(await workAt(daysAgo));
    };
    return { ...site, workAt, night };
  };

  it('review.autoClose closes only what is less than a sanction, after seven days and three answers that were neither reused nor of a time in which lists were cut to their length, and re-opens it on return', async () => {
    const { database, roster, workAt, run, ...closing } = toClosing(await beginExposed(), {
      vanishedLeast: 100,
      allOf: 100,
    });
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) =>
      expect(await closing.night(daysAgo, ...world)).toMatchObject({ state: 'complete' });
    /** The second of two rosters with the same customers: it reuses the answers of the first. */
    const runCopy = async (daysAgo: number) => run(await workAt(daysAgo), { roster: { ...roster, name: 'copy' } });
    const readStates = async () => (await readAlerts(database)).map(({ reference, state }) => `${reference} ${state}`);
    await runCopy(19.9);
    const sanctioned = ['C-1 open', 'C-1 open', 'C-2 open', 'C-2 open'];
    const fourth = ['C-4 open', 'C-4 open'];
    const allOpen = [...sanctioned, 'C-3 open', 'C-3 open', ...fourth];
    const opened = (await readAlerts(database))[4];
    await night(12, second, weakFourth);
    // The lists of C-4 have the length to which lists were cut until nine days ago.
    await database.execute(
      `update account set list_caps = jsonb_build_array(jsonb_build_object(
         'length', 1, 'foundRunId', run_id, 'foundAt', now() - interval '13 days', 'goneRunId', run_id, 'goneAt', now() - interval '9 days'
       )) from run where run_id = (select max(run_id) from run)`,
    );
    expect(await runCopy(11.9)).toMatchObject({ counts: { reused: 6 } });
    await night(10, second, weakFourth);
    await runCopy(9.9);
    await night(8, second, weakFourth);
    // Three answers, but not yet seven days.
    expect(await readStates()).toEqual(allOpen);
    await night(4.9, second, weakFourth);
    await runCopy(4.8);
    expect(await readStates()).toEqual([...sanctioned, 'C-3 no_longer_matched', 'C-3 open', ...fourth]);
    const said = z.object({ reviewer: z.string(), origin: z.string(), verdict: z.string(), isAttested: z.boolean() });
    expect(
      await database.query(said, 'select reviewer, origin, verdict, is_attested as "isAttested" from disposition'),
    ).toEqual([{ reviewer: 'review.autoClose', origin: 'policy', verdict: 'no_longer_matched', isAttested: false }]);
    await night(3, second, exposed, weakFourth);
    expect(await readStates()).toEqual([...sanctioned, 'C-3 open', 'C-3 open', 'C-4 no_longer_matched', 'C-4 open']);
    expect((await readAlerts(database))[4]).toMatchObject({ openedAt: opened?.openedAt });
  });

  it('review.autoClose counts no answer from before the absence, also when its run is accepted afterwards', async () => {
    const { database, workAt, night } = toClosing(await beginExposed(), { newlyOpenLeast: 1 });
    const before = [first, second, exposed, exposedFourth];
    const readStates = async () =>
      (await readAlerts(database)).filter(({ reference }) => reference === 'C-5').map(({ state }) => state);
    const [fifth, sixth] = [listed('pep5', 'Aroha Ngata', ['role.pep']), listed('pep6', 'Ciro Malvestuto')];
    const cluster = await night(15, ...before, fifth, sixth);
    expect(cluster.reasons.join()).toContain('newly open');
    await night(12, ...before);
    const app = await workAt(11);
    expect(await acceptRun(app, cluster.runId, await makeAcceptance(app), signal)).toMatchObject({
      kind: 'accepted',
      parties: 0,
    });
    await night(4, ...before);
    expect(await readStates()).toEqual(['open']);
    await night(3, ...before);
    expect(await readStates()).toEqual(['no_longer_matched']);
  });

  /** Seven alerts of one listed party that is delisted since, the first of them a true match, and one alert of another party. */
  const beginWithBulk = openPreparedSites(
    databases,
    async ({ sandbox, database, work, run }) => {
      await run(await work({ offsetMs: -9 * dayMs }));
      await decide(database, [(await readAlerts(database))[0]?.alertId ?? 0], { verdict: 'true_match' });
      sandbox.setWorld({ watchlist: [second, control], dossiers: [] });
      await run(await work({ offsetMs: -dayMs }));
    },
    { names: [...Array.from({ length: 7 }, () => first.name), second.name] },
  );
  const openBulk = async () => {
    const { database, work } = await beginWithBulk();
    const app = await work({ offsetMs: -dayMs });
    const { alerts } = await exportAlerts(app, { roster: null, exportedBy: 'a test' });
    const take = (verdict = 'no_longer_matched') =>
      importList(app, `alert,disposition,reason\n${alerts[0]?.mark},${verdict},no longer on the list\n`);
    return { database, alerts, take };
  };

  it('absent alerts of one listed party are confirmed in bulk, bound to what they were, one disposition each', async () => {
    const { database, alerts, take } = await openBulk();
    const [bulk, ...others] = alerts;
    // The true match is confirmed by itself.
    expect(bulk?.bulk).toMatchObject({ alerts: 6 });
    expect(new Set(bulk?.bulk?.sample).size).toBe(5);
    expect(others.filter((alert) => alert.bulk !== undefined)).toEqual([]);
    expect(others).toHaveLength(8);
    expect(await take('false_positive')).toMatchObject({ isApplied: false, faulty: [{ line: 2 }] });
    const taken = await take();
    expect([taken.isApplied, taken.decided.length]).toEqual([true, 6]);
    expect((await readAlerts(database)).map(({ state }) => state)).toEqual([
      'open',
      ...Array(6).fill('no_longer_matched'),
      'open',
    ]);
    expect((await take()).sameAlready).toHaveLength(6);
    expect(await readRows(database, `select from disposition where verdict = 'no_longer_matched'`)).toHaveLength(6);
  });
});
