import { expect, it } from 'vitest';
import { z } from 'zod';
import { sweepSettingsSchema } from '../../../src/dossiers/sweep-dossiers.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import { readColumn } from '../../../src/store/database/database.js';
import { readDossierHistory } from '../../../src/store/night/changes.js';
import { readRunning } from '../../../src/store/operations/watch-facts.js';
import { describeOnEachDatabase, leaveSqlToPostgres, readRows } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { listenAlong, makeAcceptance, openSmallSites } from '../../helpers/small-site.js';
import { buildSandboxDossier, signal, usualScreening } from '../../helpers/small-world.js';

const range = (from: number, to: number): SandboxDossier[] =>
  Array.from({ length: to - from + 1 }, (_, index) => buildSandboxDossier(from + index));

describeOnEachDatabase('a sweep', (open, databases) => {
  leaveSqlToPostgres(
    databases,
    'that it goes on is seen',
    'writes no row for a dossier',
    'says why it makes one walk',
    'keeps every change of a dossier',
    'that lists',
  );
  const openSite = openSmallSites(open);
  const begin = async (
    dossiers: readonly SandboxDossier[],
    { lostDossierShare, ...sweep }: z.input<typeof sweepSettingsSchema> & { lostDossierShare?: number } = {},
  ) => {
    const { sandbox, work } = await openSite();
    sandbox.setWorld({ watchlist: [], dossiers });
    const app = await work({
      settings: {
        sweep: { ...sweepSettingsSchema.parse(sweep), perPage: 20 },
        ...(lostDossierShare !== undefined && { screening: { ...usualScreening, hold: { lostDossierShare } } }),
      },
    });
    return { sandbox, app };
  };

  it('that it goes on is seen by the pages that it saves', async () => {
    const { app } = await begin(range(1, 45));
    const { database, clock } = app;
    let minutes = 0;
    const now = (): Date => {
      minutes += 1;
      return new Date(Date.now() + minutes * 60_000);
    };
    await runSweep({ ...app, clock: { ...clock, now } }, { writeReport: false }, signal);
    const heldAt = await database.query(z.object({ at: z.date() }), 'select max(taken_at) as at from run_worker');
    await database.execute(`update run set state = 'running', finished_at = null`);
    const [running] = await readRunning(database, 1);
    expect(running?.activeAt.getTime()).toBeGreaterThan((heldAt[0]?.at.getTime() ?? Number.NaN) + 60_000);
  });

  it('the first is the starting point, the next tells what appeared, changed and is gone', async () => {
    const { sandbox, app } = await begin(range(1, 105));
    const first = await runSweep(app, { writeReport: false }, signal);
    expect(first).toMatchObject({
      state: 'complete',
      counts: { dossiers: 105, appeared: 105, changed: 0, gone: 0, proven: true },
    });
    expect((await showRun(app.database, 'default', first.runId)).dossierChanges).toEqual([]);

    sandbox.setWorld({
      watchlist: [],
      dossiers: [...range(3, 104), buildSandboxDossier(105, { status: 'needs_attention' }), buildSandboxDossier(106)],
    });
    const second = await runSweep(app, { writeReport: false }, signal);
    expect(second).toMatchObject({
      state: 'complete',
      counts: { dossiers: 104, appeared: 1, changed: 1, gone: 2, proven: true },
    });
    const { dossierChanges } = await showRun(app.database, 'default', second.runId);
    expect(dossierChanges.map(({ kind, dossierId }) => [kind, Number(dossierId.slice(8))])).toEqual([
      ['dossier_appeared', 106],
      ['dossier_status_changed', 105],
      ...dossierChanges.slice(2).map(({ dossierId }) => ['dossier_gone', Number(dossierId.slice(8))]),
    ]);
    expect(
      dossierChanges
        .slice(2)
        .map(({ dossierId }) => Number(dossierId.slice(8)))
        .toSorted(),
    ).toEqual([1, 2]);

    sandbox.setWorld({ watchlist: [], dossiers: range(2, 106) });
    const third = await runSweep(app, { writeReport: false }, signal);
    const kinds = (await showRun(app.database, 'default', third.runId)).dossierChanges.map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['dossier_returned', 'dossier_status_changed']);
  });

  it('writes no row for a dossier that is as it was, and marks what is gone in pages', async () => {
    const { sandbox, app } = await begin(range(1, 50), { lostDossierShare: 1 });
    await runSweep(app, { writeReport: false }, signal);
    const { database } = app;
    const versions = () => readRows(database, 'select ctid::text, xmin::text from dossier order by dossier_id');
    const before = await versions();
    await runSweep(app, { writeReport: false }, signal);
    expect(await versions()).toEqual(before);
    sandbox.setWorld({ watchlist: [], dossiers: range(41, 50) });
    expect(await runSweep(app, { writeReport: false }, signal)).toMatchObject({
      counts: { gone: 40, proven: true },
    });
    expect(await readRows(database, 'select run_id from swept_page')).toEqual([]);
  });

  it.each([
    { known: 300, left: 0, isHeld: true },
    { known: 300, left: 3, isHeld: true },
    { known: 300, left: 290, isHeld: true },
    { known: 300, left: 291, isHeld: false },
    { known: 8, left: 4, isHeld: false },
    { known: 5, left: 2, isHeld: true },
    { known: 1, left: 0, isHeld: false },
    // New ones do not make up for them.
    { known: 40, left: 20, appeared: 2_000, isHeld: true },
  ])('that lists $left of $known known dossiers: held is $isHeld', async ({ known, left, appeared = 0, isHeld }) => {
    const { sandbox, app } = await begin(range(1, known));
    await runSweep(app, { writeReport: false }, signal);
    sandbox.setWorld({ watchlist: [], dossiers: [...range(1, left), ...range(10_001, 10_000 + appeared)] });
    const second = await runSweep(app, { writeReport: false }, signal);
    expect(second).toMatchObject({
      state: isHeld ? 'incomplete' : 'complete',
      counts: { proven: !isHeld, gone: isHeld ? 0 : known - left },
    });
    const reason = isHeld ? `${known - left} of ${known} known dossiers` : undefined;
    expect(second.reasons[0]?.match(/\d+ of \d+ known dossiers/)?.[0]).toBe(reason);
    const gone = await readRows(app.database, 'select dossier_id from dossier where gone_at is not null');
    expect(gone).toHaveLength(isHeld ? 0 : known - left);
  });

  it('that is held removes after an acceptance only what it missed and what stays away', async () => {
    const { sandbox, app } = await begin(range(1, 100));
    const sweep = (dossiers: readonly SandboxDossier[]) => {
      sandbox.setWorld({ watchlist: [], dossiers });
      return runSweep(app, { writeReport: false }, signal);
    };
    const accept = async (runId: string) => acceptRun(app, runId, await makeAcceptance(app), signal);
    const gone = () =>
      readColumn(app.database, z.string(), 'select dossier_id from dossier where gone_at is not null order by 1');
    await sweep(range(1, 100));
    const first = await sweep(range(51, 100));
    const second = await sweep(range(41, 100));
    await expect(accept(first.runId)).rejects.toThrow('a later sweep has listed, missed or removed each dossier');
    expect(await accept(second.runId)).toMatchObject({ kind: 'accepted', dossiers: 40, state: 'incomplete' });
    await expect(accept(second.runId)).rejects.toThrow('is already accepted');
    // Thirty of the forty are back, and of sixty others that nobody has accepted, one is missing.
    expect(await sweep([...range(1, 30), ...range(42, 100)])).toMatchObject({
      state: 'complete',
      counts: { gone: 11, proven: true },
    });
    expect(await gone()).toHaveLength(11);
    // What was back is no longer accepted as missing.
    expect(await sweep(range(42, 100))).toMatchObject({ state: 'incomplete', counts: { gone: 0 } });
    expect(await sweep([...range(1, 40), ...range(42, 100)])).toMatchObject({
      state: 'complete',
      counts: { gone: 0, proven: true },
    });
    expect(await gone()).toHaveLength(1);
  });

  it('a process that dies again and again costs at most a page of each window each time', async () => {
    const windows = 4;
    const { sandbox, app } = await begin(range(1, 300), { windows });
    let progress = 0;
    let deaths = 0;
    const dying = listenAlong(app, (event) => {
      if (event.kind !== 'progress') return;
      progress += 1;
      if (progress % 3 === 0) throw new Error('gone');
    });
    let summary: Awaited<ReturnType<typeof runSweep>> | undefined;
    while (summary === undefined) {
      summary = await runSweep(dying, { writeReport: false }, signal).catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'gone') throw error;
        deaths += 1;
        return undefined;
      });
    }
    expect(summary).toMatchObject({ state: 'complete', counts: { dossiers: 300, appeared: 300, proven: true } });
    expect(deaths).toBeGreaterThan(3);
    const calls = sandbox.ledger().filter(({ path }) => path === '/dossiers').length;
    // 15 pages, for each window a total, a limit and a last page that is not full, and the total, the probe and the head.
    expect(calls).toBeLessThanOrEqual(15 + 3 * windows + 3 + deaths * windows);
    expect(await readRows(app.database, 'select from swept_page')).toEqual([]);
  });

  it('says why it makes one walk where the service does not filter after a cursor', async () => {
    const { sandbox, app } = await begin(range(1, 600), { windows: 4 });
    sandbox.setFaults([{ path: '/dossiers', status: 400, afterCalls: 4, times: 1 }]);
    const { events, ...others } = app;
    expect(await runSweep({ ...others }, { writeReport: false }, signal)).toMatchObject({ state: 'complete' });
    expect(events).toContainEqual(
      expect.objectContaining({ code: 'sweep_one_walk', message: expect.stringContaining('refuses date_from') }),
    );
  });

  it('keeps every change of a dossier, also of sweeps that never ended, and a status that went and came back', async () => {
    const { sandbox, app } = await begin(range(1, 60));
    const { database, clock } = app;
    let minute = 0;
    const at = (day: number): string => `2026-06-0${day}T12:00:00.000Z`;
    const id = buildSandboxDossier(60).id;
    const sweepWith = async (status: SandboxDossier['status'], updated_at: string, isBrokenOff = false) => {
      sandbox.setWorld({ watchlist: [], dossiers: [...range(1, 59), buildSandboxDossier(60, { status, updated_at })] });
      sandbox.setFaults(isBrokenOff ? [{ path: '/dossiers', status: 401, afterCalls: 1 }] : []);
      minute += 7 * 60;
      const now = (): Date => new Date(Date.UTC(2026, 6, 1) + minute * 60_000);
      return runSweep({ ...app, clock: { ...clock, now } }, { writeReport: false }, signal);
    };
    // The starting point is broken off, and too old to be gone on with: seven hours are between any two.
    await sweepWith('open', at(1), true);
    await sweepWith('approved', at(2), true);
    const start = await sweepWith('open', at(3));
    expect(start).toMatchObject({ state: 'complete' });
    // It was rejected and is open again, which only its `updated_at` shows.
    await sweepWith('open', at(4), true);
    await sweepWith('rejected', at(5), true);
    await sweepWith('open', at(6));
    const history = await readDossierHistory(database, 1, id);
    expect(history?.map(({ kind, status, updatedAt }) => [kind, status.before, status.after, updatedAt.after])).toEqual(
      [
        ['dossier_status_changed', 'open', 'approved', at(2)],
        ['dossier_status_changed', 'approved', 'open', at(3)],
        ['dossier_touched', 'open', 'open', at(4)],
        ['dossier_status_changed', 'open', 'rejected', at(5)],
        ['dossier_status_changed', 'rejected', 'open', at(6)],
      ],
    );
    expect(history?.map(({ seenAt }) => seenAt.getTime())).toEqual(
      [14, 21, 28, 35, 42].map((hours) => Date.UTC(2026, 6, 1, hours)),
    );
    expect(await readDossierHistory(database, 1, buildSandboxDossier(1).id)).toEqual([]);
    expect(await readDossierHistory(database, 1, 'dossier_unknown')).toBeNull();
  });
});
