import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { sweepDossiers } from '../../../src/dossiers/sweep-dossiers.js';
import { showRun } from '../../../src/runs/session/list-runs.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import { readRunning } from '../../../src/store/watch-facts.js';
import { describeOnChosenDatabase } from '../../helpers/databases.js';
import { buildSandboxDossier } from '../../helpers/small-world.js';
import { makeWorkplace } from '../../helpers/workplace.js';

const signal = new AbortController().signal;

const range = (from: number, to: number): SandboxDossier[] =>
  Array.from({ length: to - from + 1 }, (_, index) => buildSandboxDossier(from + index));

describeOnChosenDatabase('a sweep', (open) => {
  const sandboxes: Sandbox[] = [];
  afterEach(async () => {
    for (const sandbox of sandboxes.splice(0)) await sandbox.close();
  });
  const begin = async (dossiers: readonly SandboxDossier[]) => {
    const sandbox = await startSandbox({ world: { watchlist: [], dossiers } });
    sandboxes.push(sandbox);
    const workplace = await makeWorkplace(await open(), sandbox, { settings: { sweep: { perPage: 20 } } });
    return { sandbox, workplace };
  };

  it('that it goes on is seen by the pages that it saves', async () => {
    const { workplace } = await begin(range(1, 45));
    const { database, clock } = workplace;
    let minutes = 0;
    const now = (): Date => {
      minutes += 1;
      return new Date(Date.now() + minutes * 60_000);
    };
    await runSweep({ ...workplace, clock: { ...clock, now } }, { writeReport: false }, signal);
    const heldAt = await database.query(z.object({ at: z.date() }), 'select max(taken_at) as at from run_holder');
    await database.execute(`update run set state = 'running', finished_at = null`);
    const [running] = await readRunning(database, 1);
    expect(running?.activeAt.getTime()).toBeGreaterThan((heldAt[0]?.at.getTime() ?? Number.NaN) + 60_000);
  });

  it('the first is the starting point, the next tells what appeared, changed and is gone', async () => {
    const { sandbox, workplace } = await begin(range(1, 105));
    const first = await runSweep(workplace, { writeReport: false }, signal);
    expect(first).toMatchObject({
      state: 'complete',
      counts: { dossiers: 105, appeared: 105, changed: 0, gone: 0, proven: true },
    });
    expect((await showRun(workplace.database, first.runId)).dossierChanges).toEqual([]);

    sandbox.setWorld({
      watchlist: [],
      dossiers: [...range(3, 104), buildSandboxDossier(105, { status: 'needs_attention' }), buildSandboxDossier(106)],
    });
    const second = await runSweep(workplace, { writeReport: false }, signal);
    expect(second).toMatchObject({
      state: 'complete',
      counts: { dossiers: 104, appeared: 1, changed: 1, gone: 2, proven: true },
    });
    const { dossierChanges } = await showRun(workplace.database, second.runId);
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
    const third = await runSweep(workplace, { writeReport: false }, signal);
    const kinds = (await showRun(workplace.database, third.runId)).dossierChanges.map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['dossier_returned', 'dossier_status_changed']);
  });

  it('a cursor that ends the list early makes it unproven, and nothing is gone', async () => {
    const { sandbox, workplace } = await begin(range(1, 60));
    await runSweep(workplace, { writeReport: false }, signal);
    // The last dossier of the first page is deleted while the walk stands on it: the sandbox then ends the list in silence.
    const walk = {
      raw: { status: 200, body: '{"dossiers":[],"has_more":false,"next_cursor":null}' },
      path: '/dossiers',
      afterCalls: 1,
    };
    sandbox.setFaults([walk]);
    const cut = await runSweep(workplace, { writeReport: false }, signal);
    expect(cut).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { proven: false, gone: 0, dossiers: 20 } });
    expect(cut.reasons).toEqual(['the walk saw 20 dossiers where the list counted 60']);
  });

  it('a service out of reach stops it, and nothing is gone', async () => {
    const { sandbox, workplace } = await begin(range(1, 10));
    await runSweep(workplace, { writeReport: false }, signal);
    sandbox.setFaults([{ path: '/dossiers', status: 500, times: 100 }]);
    expect(await runSweep(workplace, { writeReport: false }, signal)).toMatchObject({
      state: 'stopped',
      exitCode: 4,
      counts: { gone: 0 },
    });
  });

  it('dossiers created during the walk are seen, once, and it stays proven', async () => {
    const { sandbox, workplace } = await begin(range(1, 50));
    const walk = sweepDossiers(workplace.client().dossiers, { perPage: 20 });
    const seen: string[] = [];
    let next = await walk.next();
    for (let page = 1; !next.done; page += 1, next = await walk.next()) {
      seen.push(...next.value.map(({ id }) => id));
      if (page === 2) sandbox.setWorld({ watchlist: [], dossiers: range(1, 55) });
    }
    expect(next.value).toMatchObject({ proven: true, dossiers: 55 });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(55);
  });
});
