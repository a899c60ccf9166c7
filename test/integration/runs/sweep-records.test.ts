import { expect, it } from 'vitest';
import { z } from 'zod';
import { sweepSettingsSchema } from '../../../src/dossiers/sweep-dossiers.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { listenAlong, openSmallSites } from '../../helpers/small-site.js';
import { buildSandboxDossier, signal, type TestAppContext } from '../../helpers/small-world.js';

const toToken = (number: number): string => String(number).padStart(24, '0');
const range = (count: number): SandboxDossier[] =>
  Array.from({ length: count }, (_, index) => buildSandboxDossier(index + 1));

const readRecords = (database: Database) =>
  database.query(
    z.object({
      id: z.string(),
      updatedAt: z.date().nullable(),
      reason: z.string().nullable(),
      links: z.number(),
      name: z.string().nullable(),
      birthDate: z.string().nullable(),
      country: z.string().nullable(),
    }),
    `select record_id as id, dossier_updated_at as "updatedAt", reason, withheld_links as links, name, birth_date as "birthDate", country
     from dossier_record order by dossier_id, kind, record_id`,
  );

/** The tables in which a text is found that opens media of the sandbox. */
async function findPresigned(database: Database): Promise<readonly string[]> {
  const tables = await readColumn(
    database,
    z.string(),
    `select table_name::text as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(50);
  const found = [];
  for (const name of tables) {
    const opening = `select from "${name}" as t where to_jsonb(t)::text ~ 'signature=|_sandbox/media' limit 1`;
    if ((await readRows(database, opening)).length > 0) found.push(name);
  }
  return found;
}

describeOnPostgres('records of dossiers', (open) => {
  const openSite = openSmallSites(open);
  const begin = async (dossiers: readonly SandboxDossier[], concurrency = 8) => {
    const { sandbox, database, work: workAs } = await openSite();
    sandbox.setWorld({ watchlist: [], dossiers });
    const work = (maxPerRun: number): Promise<TestAppContext> =>
      workAs({
        rate: { perSecond: 400, concurrency },
        settings: { sweep: sweepSettingsSchema.parse({ details: { maxPerRun } }) },
      });
    const sweep = async (app: TestAppContext) => {
      const { state } = await runSweep(app, { writeReport: false }, signal);
      const finished = app.events.findLast((event) => event.kind === 'stage_finished' && event.stage === 'details');
      return { state, counts: finished?.kind === 'stage_finished' ? finished.counts : undefined };
    };
    const lookedUp = (): string[] =>
      sandbox
        .ledger()
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/dossiers/'));
    return { sandbox, database, work, sweep, lookedUp };
  };

  it('are looked up once for each state of a dossier, kept without what opens media, and readable by column', async () => {
    const { sandbox, database, work, sweep, lookedUp } = await begin(range(3));
    expect(await sweep(await work(0))).toEqual({ state: 'complete', counts: undefined });
    expect(lookedUp()).toEqual([]);

    const detail = { ...buildSandboxDossier(2), media: [], entities: [], decision: `decision_${toToken(2)}` };
    const applicant = {
      id: `entity_${toToken(1)}`,
      personal_information: { first_name: 'Åse', last_name: 'Berg', date_of_birth: '1961-04-12T00:00:00Z' },
      address: { country: 'Norway' },
    };
    sandbox.setFaults([
      { path: `/dossiers/dossier_${toToken(2)}`, raw: { status: 200, body: JSON.stringify(detail) }, times: 1 },
      {
        path: `/dossiers/entity/entity_${toToken(1)}`,
        raw: { status: 200, body: JSON.stringify(applicant) },
        times: 1,
      },
      { path: `/dossiers/entity/entity_${toToken(3)}`, status: 404, times: 1 },
    ]);
    const counts = { asked: 6, kept: 5, notAvailable: 1, missing: 0 };
    expect(await sweep(await work(100))).toEqual({ state: 'complete', counts });
    const at = (number: number) => new Date(buildSandboxDossier(number).updated_at);
    const none = { reason: null, name: null, birthDate: null, country: null };
    const records = await readRecords(database);
    expect(records).toEqual([
      { ...none, id: `dossier_${toToken(1)}`, updatedAt: at(1), links: expect.any(Number) },
      {
        ...none,
        id: `entity_${toToken(1)}`,
        updatedAt: at(1),
        links: 0,
        name: 'Åse Berg',
        birthDate: '1961-04-12',
        country: 'no',
      },
      { ...none, id: `decision_${toToken(2)}`, updatedAt: at(2), links: expect.any(Number) },
      { ...none, id: `dossier_${toToken(2)}`, updatedAt: at(2), links: 0 },
      { ...none, id: `dossier_${toToken(3)}`, updatedAt: at(3), links: expect.any(Number) },
      { ...none, id: `entity_${toToken(3)}`, updatedAt: null, links: 0, reason: 'http_404' },
    ]);
    expect(records.filter(({ links }) => links > 0)).toHaveLength(3);
    expect(await findPresigned(database)).toEqual([]);

    const before = lookedUp().length;
    await sweep(await work(100));
    expect(lookedUp()).toHaveLength(before);
    const moved = buildSandboxDossier(3, { updated_at: '2026-05-01T00:00:00.000Z' });
    sandbox.setWorld({ watchlist: [], dossiers: [...range(2), moved] });
    await sweep(await work(100));
    expect(lookedUp().slice(before)).toEqual([`/dossiers/${moved.id}`, `/dossiers/entity/entity_${toToken(3)}`]);
    expect((await readRecords(database)).slice(-2)).toMatchObject([
      { updatedAt: new Date(moved.updated_at) },
      { updatedAt: new Date(moved.updated_at), reason: null, name: 'Person 3', country: 'dk' },
    ]);
  });

  it('stay within the budget of a sweep, also of one that dies amid them; the next sweep goes on', async () => {
    const { database, work, sweep, lookedUp } = await begin(range(4), 1);
    const dying = listenAlong(await work(3), (event) => {
      if (event.kind === 'progress' && event.stage === 'details') throw new Error('gone');
    });
    await expect(sweep(dying)).rejects.toThrow('gone');
    expect(lookedUp()).toHaveLength(1);
    const counts = { asked: 3, kept: 3, notAvailable: 0 };
    expect(await sweep(await work(3))).toEqual({ state: 'complete', counts: { ...counts, missing: 3 } });
    expect(lookedUp()).toHaveLength(3);
    expect(await sweep(await work(3))).toMatchObject({ counts: { asked: 3, missing: 1 } });
    expect(await sweep(await work(3))).toMatchObject({ counts: { asked: 2, missing: 0 } });
    expect(new Set(lookedUp()).size).toBe(8);
    expect(await readRecords(database)).toHaveLength(8);
  });

  it.each([
    [402, 'refused', 0],
    [403, 'refused', 0],
    [503, 'out_of_reach', expect.any(Number)],
  ])('never hold a sweep up: %i leaves the rest to the next one', async (status, stoppedBecause, notAvailable) => {
    const { sandbox, database, work, sweep } = await begin(range(6), 1);
    const app = listenAlong(await work(100), (event) => {
      if (event.kind === 'stage_started' && event.stage === 'details') sandbox.setConditions({ outage: { status } });
    });
    expect(await sweep(app)).toMatchObject({ state: 'complete', counts: { kept: 0, notAvailable, missing: 6 } });
    expect(app.events).toContainEqual(expect.objectContaining({ code: 'details_left' }));
    const stored = await readRows(database, `select sweep -> 'details' as details from run where sweep is not null`);
    expect(stored).toMatchObject([{ details: { stoppedBecause } }]);
    sandbox.setConditions({});
    expect(await sweep(await work(100))).toMatchObject({ counts: { asked: 12, kept: 12, missing: 0 } });
  });
});
