import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toFileRoster } from '../../../src/roster/settings.js';
import { runCheck } from '../../../src/runs/checks/check.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import { readValue } from '../../../src/store/database/database.js';
import { testDatabases } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { listenAlong, openPreparedSites, searched } from '../../helpers/small-site.js';
import { controls, hourMs, listed, people, watchlist, writeRoster } from '../../helpers/small-world.js';

const settings = { screening: screeningSettingsSchema.parse({ reuseMaxAge: '20h' }) };

describe('an answer that is used again', () => {
  /** Sites after a night, with a second roster of the same people that was planned an hour later and stopped before it used any answer again. */
  const beginPlanned = openPreparedSites(testDatabases('postgres'), async ({ work, run }) => {
    await run(await work({ offsetMs: -6 * hourMs, settings }));
    const roster = toFileRoster('second', await writeRoster([...people, 'Only Second']));
    const stop = new AbortController();
    const app = await work({ offsetMs: -5 * hourMs, settings });
    const stopping = listenAlong(app, (event) => {
      if (event.kind === 'stage_finished' && event.stage === 'plan') stop.abort(new Error('stop'));
    });
    const stopped = await run(stopping, { roster }, stop.signal);
    expect(stopped).toMatchObject({ state: 'stopped', counts: { planned: 7, reused: 0, remaining: 7 } });
    return roster;
  });

  it('is the newest one: what was found since the plan was made is never hidden by an older answer', async () => {
    const { sandbox, database, work, run, prepared: roster } = await beginPlanned();
    sandbox.setWorld({ watchlist: [...watchlist, listed('n', 'Tamsin Oyelaran')], dossiers: [] });
    await run(await work({ offsetMs: -4 * hourMs, settings }), { selection: 'all' });
    const resumed = await run(await work({ settings }), { roster });
    expect(resumed).toMatchObject({ state: 'complete', counts: { screened: 2, reused: 5, remaining: 0 } });
    // In the night before, another sandbox was asked.
    expect(searched(sandbox, 'Tamsin Oyelaran')).toBe(2);
    expect((await showRun(database, 'default', resumed.runId)).states).toMatchObject({ open_alert: 3 });
  });

  it('is young enough for the cadence also when its run is resumed later', async () => {
    const { work, run, prepared: roster } = await beginPlanned();
    const shorter = { screening: { ...settings.screening, cadenceHours: 6 } };
    expect(await run(await work({ settings: shorter }), { roster })).toMatchObject({
      counts: { screened: 7, reused: 0 },
    });
  });

  it('is not older than what a single check has found', async () => {
    const { sandbox, database, work, run } = await beginPlanned();
    sandbox.setWorld({ watchlist: [...watchlist, listed('n', 'Tamsin Oyelaran')], dossiers: [] });
    const question = { type: 'person', name: 'Tamsin Oyelaran', reason: 'asked', askedBy: 'desk' } as const;
    await runCheck(await work({ offsetMs: -4 * hourMs, settings }), question, new AbortController().signal);
    const roster = toFileRoster('third', await writeRoster(people));
    const third = await run(await work({ settings }), { roster });
    expect(third).toMatchObject({ state: 'complete', counts: { screened: 1, reused: 5 } });
    expect((await showRun(database, 'default', third.runId)).states).toMatchObject({ open_alert: 3 });
  });

  it('is applied by nobody who takes over a run that stopped before its first control search', async () => {
    const { sandbox, database, work, run } = await beginPlanned();
    const controlled = { ...settings, controls };
    const roster = toFileRoster('third', await writeRoster(people));
    const stop = new AbortController();
    const stopping = listenAlong(await work({ offsetMs: -4 * hourMs, settings: controlled }), (event) => {
      if (event.kind === 'stage_started' && event.stage === 'controls') stop.abort(new Error('stop'));
    });
    expect(await run(stopping, { roster }, stop.signal)).toMatchObject({ state: 'stopped', counts: { reused: 6 } });
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const resumed = await run(await work({ settings: controlled }), { roster });
    expect(resumed).toMatchObject({ state: 'incomplete', counts: { screened: 0, reused: 0 } });
    expect((await showRun(database, 'default', resumed.runId)).states).toMatchObject({ not_screened: 6 });
    const applied = `select count(*)::integer as parties
      from party_state join party using (party_id) join customer using (customer_id) join roster using (roster_id) where name = 'third'`;
    expect(await readValue(database, z.number(), applied)).toBe(0);
  });
});
