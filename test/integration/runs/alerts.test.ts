import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { importDecisions } from '../../../src/runs/review/import-list.js';
import { exportItems } from '../../../src/runs/review/lists.js';
import { findReviewer } from '../../../src/runs/review/people.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { acceptRun } from '../../../src/runs/screening/close.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { exportStatus } from '../../../src/runs/status.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import type { Database } from '../../../src/store/database/database.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { describeOnChosenDatabase } from '../../helpers/databases.js';
import { acceptChanges, decide, makeAcceptance, openPreparedSites, openSmallSites } from '../../helpers/small-site.js';
import { fileOf, listed, watchlist } from '../../helpers/small-world.js';

const dayMs = 86_400_000;
const [first = listed('one', ''), second = listed('two', ''), canary = listed('c', '')] = watchlist;
const { signal } = new AbortController();

/** Found below the threshold for the first customer, under the same id. */
const weak = { ...first, name: 'Wilhelmina Johanna Maria Achterberg' };

const alertRow = z.object({
  itemId: z.number(),
  reference: z.string(),
  state: z.string(),
  absence: z.string().nullable(),
  openedAt: z.date(),
  dueAt: z.date().nullable(),
});
const readAlerts = (database: Database) =>
  database.query(
    alertRow,
    `select item_id as "itemId", reference, review_item.state, absence, opened_at as "openedAt", due_at as "dueAt"
     from review_item join party using (party_id) join customer using (customer_id) order by reference, item_id`,
  );
const readState = async (database: Database, reference: string) => {
  const [row] = await database.query(
    z.object({ state: z.string(), waiting: z.number(), worstTopic: z.string().nullable() }),
    `select state, waiting, worst_topic as "worstTopic" from customer_screening_status where reference = $1`,
    [reference],
  );
  return row;
};

describeOnChosenDatabase('alerts and states', (open, databases) => {
  const begin = openSmallSites(open);
  const beginAfterNight = openPreparedSites(databases, async ({ work, run }) => {
    expect(await run(await work({ offsetMs: -9 * dayMs }))).toMatchObject({ state: 'complete' });
  });

  /** A site after its first night, with the alert of C-1 decided. */
  async function openDecided(verdict: DispositionVerdict | null) {
    const site = await beginAfterNight();
    const { database, sandbox, work, run } = site;
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      sandbox.setWorld({ watchlist: [...world, canary], dossiers: [] });
      const { state, runId } = await run(await work({ offsetMs: -daysAgo * dayMs }));
      expect(state).toBe('complete');
      return runId;
    };
    const [alert] = await readAlerts(database);
    if (alert === undefined) throw new Error('no alert');
    const say = (said: DispositionVerdict) => decide(database, [alert.itemId], { verdict: said });
    if (verdict !== null) expect(await say(verdict)).toMatchObject([{ kind: 'decided' }]);
    const readAlert = async () => (await readAlerts(database)).find(({ itemId }) => itemId === alert.itemId);
    return { ...site, night, say, readAlert, opened: alert };
  }

  it.each([
    ['false_positive', 'settled_false_positive'],
    ['true_match', 'confirmed'],
  ] as const)('a %s holds while only scores move, and over any accepted change of settings', async (verdict, state) => {
    const { sandbox, database, work, run } = await openDecided(verdict);
    const row = z.object({ state: z.string(), waiting: z.number() });
    const expectHeld = async () =>
      expect(
        await database.query(
          row,
          `select last_state as state, waiting from customer_screening_status where reference = 'C-1'`,
        ),
      ).toEqual([{ state, waiting: 0 }]);
    await expectHeld();
    // Every score moves by less than the step, night after night.
    for (const [seed, daysAgo] of [1, 2, 3].map((each) => [each, 4 - each] as const)) {
      sandbox.setWorld({ watchlist, dossiers: [], ranking: { scoreNoise: 0.004, shuffleSeed: seed } });
      const night = await run(await work({ offsetMs: -daysAgo * dayMs }));
      expect(night).toMatchObject({ state: 'complete', counts: { changes: 0 }, openItems: { waiting: 1 } });
      await expectHeld();
    }
    const changes = changeSettingsSchema.parse({ scoreStep: 0.03 });
    await run(await work({ settings: { changes } }));
    await expectHeld();
  });

  it('a settled leaver leaves the scope although scores move', async () => {
    const { sandbox, database, roster, work, run } = await openDecided('false_positive');
    const path = fileOf(roster);
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      text
        .replace('customer_id,type,name', 'customer_id,type,name,end')
        .replace(/^(C-\d.*)$/gm, (line) => (line.startsWith('C-1,') ? `${line},2020-01-01` : `${line},`)),
    );
    sandbox.setWorld({ watchlist, dossiers: [], ranking: { scoreNoise: 0.004, shuffleSeed: 1 } });
    const settings = { ...roster, columns: { endDate: 'end' } };
    const app = await work({ offsetMs: -dayMs, settings: { rosters: [settings] } });
    await acceptChanges(app);
    await run(app, { roster: settings, acceptRoster: await makeAcceptance(app) });
    expect((await measureCoverage(app, { list: 0 })).total.inScope).toBe(5);
    expect(await readState(database, 'C-1')).toBeUndefined();
  });

  it('a confirmed customer stays confirmed when the listed birth date changes, and its alert waits again', async () => {
    const { database, night, readAlert } = await openDecided('true_match');
    await night(3, { ...first, birth_date: ['1961-02-03'] }, second);
    expect(await readAlert()).toMatchObject({ state: 'open', absence: null });
    expect(await readState(database, 'C-1')).toEqual({ state: 'confirmed', waiting: 1, worstTopic: 'sanction' });
  });

  it.each([
    ['delisted', [second], 'not_returned'],
    ['below the threshold', [weak, second], 'below_threshold'],
  ] as const)(
    'an undecided alert whose match is %s waits for no_longer_matched, and keeps its age when it returns',
    async (_title, world, absence) => {
      const { database, night, say, readAlert, opened } = await openDecided(null);
      await night(6, ...world);
      expect(await readAlert()).toMatchObject({
        state: 'open',
        absence,
        openedAt: opened.openedAt,
        dueAt: opened.dueAt,
      });
      expect(await readState(database, 'C-1')).toMatchObject({ state: 'open_hit', waiting: 1 });
      await night(5, first, second);
      expect(await readAlert()).toMatchObject({ state: 'open', absence: null, openedAt: opened.openedAt });
      expect(await say('no_longer_matched')).toMatchObject([{ kind: 'refused', reason: 'still_listed' }]);
      await night(4, ...world);
      expect(await say('no_longer_matched')).toMatchObject([{ kind: 'decided' }]);
      const isWeak = absence === 'below_threshold';
      expect(await readAlert()).toMatchObject({ state: 'gone' });
      await night(3, ...world);
      await night(0, ...world);
      expect(await readState(database, 'C-1')).toMatchObject({
        state: isWeak ? 'below_threshold' : 'clear',
        waiting: 0,
      });
      await night(-1, first, second);
      expect(await readAlert()).toMatchObject({ state: 'open', absence: null, openedAt: opened.openedAt });
    },
  );

  it('a confirmed customer whose match is absent stays confirmed, due within one business day, until no_longer_matched', async () => {
    const { database, night, say, readAlert } = await openDecided('true_match');
    await night(6, second);
    const waiting = await readAlert();
    expect(waiting).toMatchObject({ state: 'open', absence: 'not_returned' });
    const waitsMs = (waiting?.dueAt?.getTime() ?? 0) - (waiting?.openedAt.getTime() ?? 0);
    expect(waitsMs).toBeGreaterThan(0);
    // A weekend may lie between.
    expect(waitsMs).toBeLessThanOrEqual(4 * dayMs);
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'confirmed', waiting: 1 });
    // Back as it was: confirmed, and nothing waits.
    await night(5, first, second);
    expect(await readAlert()).toMatchObject({ state: 'confirmed', absence: null });
    await night(0, second);
    expect(await say('no_longer_matched')).toMatchObject([{ kind: 'decided' }]);
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'clear', waiting: 0 });
  });

  it('a false positive closes by itself with the reason, and holds again when the same party returns', async () => {
    const { database, night, readAlert } = await openDecided('false_positive');
    await night(3, weak, second);
    expect(await readAlert()).toMatchObject({ state: 'gone', absence: 'below_threshold' });
    await night(2, second);
    await night(0, first, second);
    expect(await readAlert()).toMatchObject({ state: 'settled', absence: null });
    expect(await readState(database, 'C-1')).toMatchObject({ state: 'settled_false_positive', waiting: 0 });
  });

  it.each(['false_positive', null] as const)(
    'a renamed customer keeps the alert that waits (%s before), and the view names the record as the cause',
    async (verdict) => {
      const { database, roster, readAlert, work, run } = await openDecided(verdict);
      const path = fileOf(roster);
      await writeFile(path, (await readFile(path, 'utf8')).replace('Wilhelmina Achterberg', 'Somebody Else Entirely'));
      const app = await work();
      await run(app, { acceptRoster: await makeAcceptance(app) });
      const state = verdict === null ? 'open' : 'gone';
      expect(await readAlert()).toMatchObject({ state, absence: 'customer_changed' });
      expect(await readState(database, 'C-1')).toMatchObject({ state: verdict === null ? 'open_hit' : 'clear' });
    },
  );

  it('status export has a row for a customer of whom nothing was ever searched', async () => {
    const { database, roster, work, run } = await begin();
    await run(await work());
    await writeFile(fileOf(roster), `${await readFile(fileOf(roster), 'utf8')}C-7,person,Nobody Yet\n`);
    const app = await work();
    await runImport(app, roster, signal);
    const rows: unknown[] = [];
    const { batches, sums } = await exportStatus(app, {}, signal);
    for await (const batch of batches) rows.push(...batch);
    expect(rows).toHaveLength(7);
    expect(rows.at(-1)).toMatchObject({ state: 'not_screened', reason: 'never', neverScreened: true });
    expect(sums).toMatchObject({ inScope: 7, notValid: 1 });
    expect(
      await database.query(z.object({}), 'select from customer_screening_status where never_screened'),
    ).toHaveLength(1);
  });

  it('an id of the roster without an accepted record is not screened, in scope, in coverage, status and sums', async () => {
    const { database, roster, work, run } = await begin();
    await run(await work({ offsetMs: -2 * dayMs }));
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
    const { batches, sums } = await exportStatus(app, {}, signal);
    for await (const _ of batches);
    expect(sums).toMatchObject({ inScope: 7, notValid: 1, states: { not_screened: 1 } });
  });

  it('review.autoClose closes only what is less than a sanction, after seven days and three whole answers, and re-opens it on return', async () => {
    const { sandbox, database, work, run } = await begin();
    const exposed = listed('pep', 'Tamsin Oyelaran', ['role.pep']);
    const review = reviewSettingsSchema.parse({ autoClose: true });
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      sandbox.setWorld({ watchlist: [...world, canary], dossiers: [] });
      // The first run records settings without it.
      const app = await work({ offsetMs: -daysAgo * dayMs, settings: daysAgo === 20 ? {} : { review } });
      expect(await run(app)).toMatchObject({ state: 'complete' });
      return Object.fromEntries((await readAlerts(database)).map(({ reference, state }) => [reference, state]));
    };
    await night(20, first, second, exposed);
    const [, , opened] = await readAlerts(database);
    await night(12, second);
    await night(10, second);
    // Three answers, but not yet seven days.
    expect(await night(8, second)).toEqual({ 'C-1': 'open', 'C-2': 'open', 'C-3': 'open' });
    expect(await night(4.9, second)).toEqual({ 'C-1': 'open', 'C-2': 'open', 'C-3': 'gone' });
    const said = z.object({ reviewer: z.string(), origin: z.string(), verdict: z.string(), isAttested: z.boolean() });
    expect(
      await database.query(said, 'select reviewer, origin, verdict, is_attested as "isAttested" from disposition'),
    ).toEqual([{ reviewer: 'review.autoClose', origin: 'policy', verdict: 'no_longer_matched', isAttested: false }]);
    expect(await night(3, second, exposed)).toEqual({ 'C-1': 'open', 'C-2': 'open', 'C-3': 'open' });
    expect((await readAlerts(database))[2]).toMatchObject({ openedAt: opened?.openedAt });
  });

  /** Nights of a roster with an exposed third customer, under `review.autoClose` from the second night on. */
  const beginClosing = async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    const settings = {
      review: reviewSettingsSchema.parse({ autoClose: true }),
      screening: screeningSettingsSchema.parse({ hold: { newlyOpenLeast: 1 }, reuseMaxAge: '20h' }),
    };
    const workAt = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs, settings: daysAgo >= 20 ? {} : settings });
    const night = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      sandbox.setWorld({ watchlist: [...world, canary], dossiers: [] });
      return run(await workAt(daysAgo));
    };
    const readExposed = async () =>
      (await readAlerts(database)).filter(({ reference }) => reference === 'C-3').map(({ state }) => state);
    return { ...site, workAt, night, readExposed };
  };
  const exposed = listed('pep', 'Tamsin Oyelaran', ['role.pep']);

  it('review.autoClose counts no answer from before the absence, also when its run is accepted afterwards', async () => {
    const { workAt, night, readExposed } = await beginClosing();
    await night(20, second);
    const cluster = await night(15, first, second, exposed);
    expect(cluster.reasons.join()).toContain('newly open');
    await night(12, second);
    const app = await workAt(11);
    expect(await acceptRun(app, cluster.runId, await makeAcceptance(app), signal)).toMatchObject({
      kind: 'accepted',
      parties: 0,
    });
    await night(4, second);
    expect(await readExposed()).toEqual(['open']);
    await night(3, second);
    expect(await readExposed()).toEqual(['gone']);
  });

  it('review.autoClose counts no answer as long as lists were known to be cut to', async () => {
    const { database, night, readExposed } = await beginClosing();
    const other = { ...listed('weak', 'Tamsin Johanna Maria Oyelaran', ['role.pep']) };
    await night(20, first, second, exposed);
    const { runId } = await night(12, second, other);
    await database.execute(
      `insert into list_cap (account_id, length, found_run_id, found_at, gone_run_id, gone_at)
       select account_id, 1, run_id, now() - interval '13 days', run_id, now() - interval '9 days' from run where run_id = $1`,
      [Number(runId.split('-').at(-1))],
    );
    await night(10, second, other);
    await night(4, second, other);
    expect(await readExposed()).toEqual(['open']);
    await night(3, second, other);
    expect(await readExposed()).toEqual(['open']);
    await night(2, second, other);
    expect(await readExposed()).toEqual(['gone']);
  });

  it('review.autoClose counts no answer that was used again', async () => {
    const { roster, sandbox, workAt, run, night, readExposed } = await beginClosing();
    const copy = { ...roster, name: 'copy' };
    const both = async (daysAgo: number, ...world: (typeof watchlist)[number][]) => {
      await night(daysAgo, ...world);
      return run(await workAt(daysAgo - 0.1), { roster: copy });
    };
    await both(20.5, first, second, exposed);
    sandbox.setWorld({ watchlist: [second, canary], dossiers: [] });
    expect(await both(12, second)).toMatchObject({ counts: { reused: 6 } });
    await both(10, second);
    await both(4, second);
    expect(await readExposed()).toEqual(['gone', 'open']);
  });

  it('review.autoClose is refused until a named person has accepted it', async () => {
    const { roster, work } = await begin();
    const app = await work({ settings: { review: reviewSettingsSchema.parse({ autoClose: true }) } });
    const options = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false } as const;
    await expect(runScreening(app, options, signal)).rejects.toThrow(
      /closes alerts without a person and is not accepted/,
    );
  });

  it('absent alerts of one listed party are confirmed in bulk, bound to what they were, one disposition each', async () => {
    const { sandbox, database, work, run } = await begin([...Array.from({ length: 7 }, () => first.name), second.name]);
    await run(await work({ offsetMs: -9 * dayMs }));
    await decide(database, [(await readAlerts(database))[0]?.itemId ?? 0], { verdict: 'true_match' });
    sandbox.setWorld({ watchlist: [second, canary], dossiers: [] });
    const app = await work({ offsetMs: -dayMs });
    await run(app);
    const asked = { roster: null, exportedBy: 'a test' };
    const { items } = await exportItems(app, asked);
    const [bulk, ...others] = items;
    // The true match is confirmed by itself.
    expect(bulk?.bulk).toMatchObject({ alerts: 6 });
    expect(new Set(bulk?.bulk?.sample).size).toBe(5);
    expect(others.filter((item) => item.bulk !== undefined)).toEqual([]);
    expect(others).toHaveLength(8);
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-bulk-')), 'review.csv');
    const write = (verdict: string) =>
      writeFile(path, `item,sheet,decision,reason,comment\n${bulk?.mark},,${verdict},no longer on the list,\n`);
    const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
    const take = () => importDecisions(app, { path, reviewer, apply: true, partial: false });
    await write('false_positive');
    expect(await take()).toMatchObject({ isApplied: false, faulty: [{ line: 2 }] });
    await write('no_longer_matched');
    const taken = await take();
    expect([taken.isApplied, taken.decided.length]).toEqual([true, 6]);
    expect((await readAlerts(database)).map(({ state }) => state)).toEqual(['open', ...Array(6).fill('gone'), 'open']);
    expect((await take()).sameAlready).toHaveLength(6);
    expect(
      await database.query(z.object({}), `select from disposition where verdict = 'no_longer_matched'`),
    ).toHaveLength(6);
  });

  it('a bulk row is refused as a whole once one of its alerts is no longer as it was', async () => {
    const { sandbox, database, work, run } = await begin([first.name, first.name, first.name]);
    await run(await work({ offsetMs: -9 * dayMs }));
    sandbox.setWorld({ watchlist: [canary], dossiers: [] });
    const app = await work({ offsetMs: -dayMs });
    await run(app);
    const [bulk] = (await exportItems(app, { roster: null, exportedBy: 'a test' })).items;
    await decide(database, [(await readAlerts(database))[1]?.itemId ?? 0], { verdict: 'inconclusive' });
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-bulk-')), 'review.csv');
    await writeFile(path, `item,sheet,decision,reason,comment\n${bulk?.mark},,no_longer_matched,gone,\n`);
    const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
    expect(await importDecisions(app, { path, reviewer, apply: true, partial: true })).toMatchObject({
      decided: [],
      faulty: [{ line: 2, problem: expect.stringContaining('export it again') }],
    });
    expect((await readAlerts(database)).map(({ state }) => state)).toEqual(['open', 'open', 'open']);
  });
});
