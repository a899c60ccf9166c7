import { beforeAll, expect, it } from 'vitest';
import { shiftedClock } from '../../../src/clock.js';
import { createMetrics } from '../../../src/metrics/metrics.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { readMetricFacts } from '../../../src/runs/metrics.js';
import type { Database } from '../../../src/store/database/database.js';
import { readFleetFigures } from '../../../src/store/operations/metrics.js';
import { listFiring } from '../../helpers/alert-rules.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { makeAppContext } from '../../helpers/small-world.js';

const now = new Date('2026-11-22T09:00:00Z');

/** Runs that began so many hours ago, each an hour long. */
const setUp = `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) select 1, name, now() from unnest(array['retail', 'former']) name;
  insert into run (
    organisation_id, roster_id, mode, kind, selection, state, stage, lease_key, epoch, owner, settings_digest, version, started_at, finished_at
  )
  select 1, roster_id, 'test', kind, selection, state, 'finished', 'k', 1, 'o', 's', 'v',
    '2026-11-22T09:00:00Z'::timestamptz - hours * interval '1 hour', '2026-11-22T09:00:00Z'::timestamptz - (hours - 1) * interval '1 hour'
  from (values
    -- Taken out of the configuration in spring, after a night whose control searches failed.
    (2, 'rescreen', 'due', 'incomplete', 6000),
    (1, 'onboard', 'new', 'incomplete', 5900),
    (1, 'rescreen', 'due', 'complete', 31),
    (1, 'screen', 'new', 'incomplete', 20),
    (1, 'rescreen', 'due', 'complete', 7),
    (null, 'sweep', null, 'complete', 8),
    (1, 'screen', 'forced', 'complete', 2),
    (1, 'rescreen', 'due', 'abandoned', 1),
    (1, 'rescreen', 'due', 'running', 0)
  ) made (roster_id, kind, selection, state, hours);
  insert into control_outcome (run_id, ordinal, type, name, expect, verdict, asked_at) values
    (1, 1, 'person', 'listed', 'match', 'failed', now()), (2, 1, 'person', 'listed', 'match', 'failed', now());
  update run set sweep = '{"proven": true}' where run_id = 6;
`;

describeOnEachDatabase('the figures of a database, and the alerts that go by them', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.runScript(setUp);
  });

  async function emit(
    rosters: readonly string[],
    { fleet = false, ...sweeps }: { isPlanned?: boolean; isOff?: boolean; fleet?: boolean } = {},
  ): Promise<string> {
    const sandbox = { url: 'http://127.0.0.1:9', privateKey: 'private_sandbox_aaaaaaaaaaaaaaaa' };
    const clock = { ...shiftedClock(0), now: () => now };
    const settings = {
      rosters: rosters.map((name) => rosterSettingsSchema.parse({ name, csv: { path: 'r.csv' } })),
      fleet: fleet ? ({ worker: 'separate' } as const) : undefined,
    };
    const app = await makeAppContext(database, sandbox, { clock, settings });
    const metrics = createMetrics('1.0.0', { isLasting: false });
    metrics.of(null).show(await readMetricFacts(app, { isPlanned: false, isOff: false, ...sweeps }));
    return metrics.write();
  }
  const linesOf = (text: string, name: RegExp): readonly string[] =>
    text.split('\n').filter((line) => !line.startsWith('#') && name.test(line));

  it('tell of the newest night of each configured roster, whatever else was run, and of no other roster', async () => {
    const text = await emit(['retail']);
    expect(linesOf(text, /^nightscreen_night_/)).toEqual([
      `nightscreen_night_success_timestamp_seconds{roster="retail"} ${now.getTime() / 1_000 - 6 * 3_600}`,
      'nightscreen_night_state{roster="retail",state="complete"} 1',
      'nightscreen_night_controls_failed{roster="retail"} 0',
    ]);
    expect(linesOf(text, /former/)).toEqual([]);
    expect(linesOf(text, /last_run_controls_failed\{kind="onboard"/)).toEqual([
      'nightscreen_last_run_controls_failed{kind="onboard",roster="retail"} 1',
    ]);
    expect(listFiring(text, now)).toEqual([]);
  });

  it('tell of a roster that is configured and was never screened', async () => {
    const text = await emit(['retail', 'core']);
    expect(linesOf(text, /roster="core"/)).toEqual(['nightscreen_night_success_timestamp_seconds{roster="core"} 0']);
    expect(listFiring(text, now)).toEqual(['NeverScreened']);
  });

  it('tell of the chunks that workers can take now, and of the workers that are alive, by organisation', async () => {
    await database.runScript(`
      insert into organisation (name, digest_key, created_at) values ('A/S', '\\x00', now());
      insert into chunk (run_id, number, wave, party_ids, searches, version, state) values
        (9, 1, 1, '{1}', 1, 'v', 'done'), (9, 2, 1, '{2}', 1, 'v', 'open'), (9, 3, 1, '{3}', 1, 'v', 'open'), (9, 4, 2, '{4}', 1, 'v', 'open'),
        (4, 1, 1, '{5}', 1, 'v', 'open');
      insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at, details)
      select lease_key, 1, 'o', now(), now(), now() + seconds * interval '1 second', details::jsonb
      from (values
        ('worker/default/a', 60, '{}'), ('worker/default/dead', -1, '{}'), ('worker/default/starts', 60, null),
        ('worker/A%2FS/b', 60, '{}'), ('worker/A%2FS/c', 60, '{}'), ('job/default/report', 60, null)
      ) made (lease_key, seconds, details)`);
    expect(await readFleetFigures(database, 'A/S')).toEqual({ openChunks: 0, workers: 2 });
    expect(linesOf(await emit(['retail'], { fleet: true }), /open_chunks|workers/)).toEqual([
      'nightscreen_open_chunks 2',
      'nightscreen_workers 1',
    ]);
    expect(linesOf(await emit(['retail']), /open_chunks|workers/)).toEqual([]);
  });

  it('tell of a sweep until sweeps are switched off', async () => {
    expect(linesOf(await emit(['retail']), /^nightscreen_sweep/).length).toBe(2);
    expect(linesOf(await emit(['retail'], { isPlanned: true, isOff: true }), /^nightscreen_sweep/)).toEqual([]);
    await database.execute(
      `update run set started_at = started_at - interval '3 days', finished_at = finished_at - interval '3 days' where kind = 'sweep'`,
    );
    expect(listFiring(await emit(['retail']), now)).toEqual(['SweepOld']);
  });
});
