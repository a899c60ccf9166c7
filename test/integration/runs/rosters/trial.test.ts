import { expect, it } from 'vitest';
import { changeSettingsSchema } from '../../../../src/changes/severity.js';
import { RosterHeldError } from '../../../../src/errors.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { reviewSettingsSchema } from '../../../../src/runs/review/settings.js';
import { acceptSettings, findUnacceptedSettings } from '../../../../src/runs/settings-acceptance.js';
import { readSettingsHistory } from '../../../../src/store/organisations.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, type RosterNight } from '../../../helpers/roster-nights.js';
import { makeAcceptance, openSmallSites } from '../../../helpers/small-site.js';

const header = 'customer_id,type,name,risk_tier';
const good = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `C-${index},person,Customer ${index},low`);
const bad = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `X-${from + index},robot,Robot ${from + index},low`);
const odd = (count: number, tier: string): string[] =>
  Array.from({ length: count }, (_, index) => `T-${index},person,Tiered ${index},${tier}`);
/** 200 rows: a tenth is rejected, a quarter has a risk tier that nobody knows. */
const messy = [...good(130), ...bad(20), ...odd(50, 'tier 3')];
const { signal } = new AbortController();

describeOnPostgres('a trial with a test key', (open) => {
  const begin = openSmallSites(open);

  it('begins with a messy roster as it is, names each rejected row, and accepts the same rows every night', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (night: RosterNight) => nights.play({ header, guards: {}, ...night });
    const { app, settings } = await nights.prepare({ header, guards: {}, rows: messy });
    expect(await runImport(app, settings, signal)).toMatchObject({
      state: 'complete',
      counts: { rows: 200, customers: 180, rejected: 20 },
    });
    const warnings = app.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(warnings).toMatchObject([
      expect.stringMatching(
        /20 of 200 rows were rejected: 10 % \(at most 0\.5 %, rosters\[0\]\.guards\.maxRejectShare\)/,
      ),
      expect.stringMatching(/values of column "risk_tier" are in doubt/),
    ]);
    expect(await play({ rows: messy, day: 1 })).toMatchObject({ state: 'complete' });
    // Other rows are no longer those of the beginning.
    await expect(play({ rows: [...messy, ...bad(10, 100)], day: 2 })).rejects.toMatchObject({
      heldBy: [{ guard: 'rejects' }],
    });
    // What compares nights holds in a trial, too.
    await expect(play({ rows: messy.slice(20), day: 2 })).rejects.toMatchObject({
      heldBy: [{ guard: 'shrink_night' }, { guard: 'shrink_30_days' }],
    });
    await expect(
      play({ header: 'customer_id,type,name', rows: messy.map((row) => row.replace(/,[^,]*$/, '')), day: 2 }),
    ).rejects.toThrow(/guard columns/);
    await nights.close();
    const other = await openRosterNights(database, 'unusable');
    await expect(other.play({ header, guards: {}, rows: [...good(49), ...bad(51)] })).rejects.toMatchObject({
      heldBy: [{ guard: 'rejects' }],
    });
    await other.close();
  });

  it('hands nothing that it let through to a live key, which holds the rows until they are accepted with that key, and then not again', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (night: Partial<RosterNight>) => nights.play({ header, guards: {}, rows: messy, ...night });
    const held = (night: Partial<RosterNight>) =>
      play(night).then(
        () => [],
        (error: unknown) => (error instanceof RosterHeldError ? error.heldBy.map(({ guard }) => guard) : error),
      );
    const acceptRoster = await makeAcceptance({ database });
    await play({});
    // An acceptance in the trial is none with a live key.
    const more = [...messy, ...bad(10, 100)];
    await play({ rows: more, day: 1, acceptRoster });
    expect(await held({ rows: more, day: 2, mode: 'live' })).toEqual(['rejects', 'doubts']);
    // Once a live key was used, a test key is no trial any more.
    expect(await held({ rows: more, day: 2 })).toEqual(['doubts']);
    const others = await openRosterNights(database, 'others');
    await expect(others.play({ header, guards: {}, rows: messy })).rejects.toMatchObject({
      heldBy: [{ guard: 'rejects' }, { guard: 'doubts' }],
    });
    await others.close();
    await play({ rows: more, day: 3, mode: 'live', acceptRoster });
    expect(await held({ rows: more, day: 4, mode: 'live' })).toEqual([]);
    expect(await held({ rows: [...more, ...bad(2, 200)], day: 5, mode: 'live' })).toEqual([]);
    expect(await held({ rows: [...more, ...bad(10, 300)], day: 6, mode: 'live' })).toEqual(['rejects']);
    // The same customer in another state is another row.
    const changed = more.map((row) => row.replace('robot', 'android'));
    expect(await held({ rows: changed, day: 6, mode: 'live' })).toEqual(['rejects']);
    expect(await held({ rows: more.map((row) => row.replace('tier 3', 'tier 4')), day: 6, mode: 'live' })).toContain(
      'doubts',
    );
    await nights.close();
  });

  it('applies changed settings at once and reports them, and a live key needs them accepted', async () => {
    const { database, roster, work } = await begin();
    const changes = changeSettingsSchema.parse({ scoreStep: 0.05 });
    const night = async (settings = {}, mode?: 'live') => {
      const app = await work({ settings });
      if (mode) app.settings.service.mode = mode;
      await runImport(app, roster, signal);
      return app;
    };
    await night();
    const app = await night({ changes });
    expect(app.events).toContainEqual(
      expect.objectContaining({
        code: 'settings_applied',
        message: expect.stringContaining('scoreStep was 0.02 and is 0.05'),
      }),
    );
    expect(await readSettingsHistory(database, 'default')).toMatchObject([
      { acceptedBy: 'first settings' },
      { differences: ['changes.scoreStep was 0.02 and is 0.05'], reason: expect.stringContaining('test key') },
    ]);
    expect((await night({ changes })).events.filter((event) => event.kind === 'warning')).toEqual([]);
    expect((await findUnacceptedSettings(database, app.settings)).differences).toHaveLength(1);
    // A policy that closes alerts is accepted by a person in any case.
    await expect(night({ changes, review: reviewSettingsSchema.parse({ autoClose: true }) })).rejects.toThrow(
      /review\.autoClose was false and is true/,
    );
    await expect(night({ changes }, 'live')).rejects.toThrow(/scoreStep was 0\.02 and is 0\.05.*config accept/);
    const acceptance = await makeAcceptance({ database });
    expect(await acceptSettings(app, acceptance)).toMatchObject({ recorded: true });
    await night({ changes }, 'live');
    // After that a test key changes nothing without an acceptance.
    await expect(night({ changes: changeSettingsSchema.parse({ scoreStep: 0.1 }) })).rejects.toThrow(/config accept/);
  });
});
