import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { reportJsonSchema } from '../../../src/reports/report-json.js';
import { evidenceSettingsSchema, type RunSettings } from '../../../src/runs/app-context.js';
import { runReports } from '../../../src/runs/write-reports.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { readColumn } from '../../../src/store/database/database.js';
import { readAlertHistories } from '../../../src/store/review/decisions.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { listenAlong, openSmallSites, type SmallSite } from '../../helpers/small-site.js';
import { dayMs, listed, people, type TestAppContext, watchlist } from '../../helpers/small-world.js';

const activity = JSON.stringify({
  id: 'amla_one',
  aml_entity: 'aml_ofOne1',
  media: [{ type: 'photo', url: 'https://media.example/photo.png?signature=opens-it' }],
});
const withoutLink = activity.replace(/https:[^"]+/, '[link not kept]');
const entity = '{"id":"aml_ofOne1","status":"match"}';
const answering = (path: string, body: string) => ({ path, raw: { status: 200, body } });

const details = (part: Partial<RunSettings['evidence']['details']>) => ({
  settings: { evidence: { ...evidenceSettingsSchema.parse('off'), details: { maxPerRun: 200, ...part } } },
});
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const lookedUp = (sandbox: Sandbox): string[] =>
  sandbox
    .ledger()
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/aml/'))
    .map(({ path }) => path);
const readBodies = ({ database }: SmallSite): Promise<readonly string[]> =>
  readColumn(database, z.string(), 'select body from match_detail where body is not null order by kind, record_id');

/** A run that never ends: its process is gone at its first detail. */
async function dieAtFirstDetail(app: TestAppContext, run: SmallSite['run']): Promise<void> {
  const dying = listenAlong(app, (event) => {
    if (event.kind === 'progress' && event.stage === 'details') throw new Error('gone');
  });
  await expect(run(dying)).rejects.toThrow('gone');
}

describeOnPostgres('details of new hits', (open) => {
  const begin = openSmallSites(open);

  it('are kept as they came but for presigned links, once, and told in report, file and history', async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    sandbox.setFaults([
      { ...answering('/aml/activity/amla_one', activity), times: 2 },
      { ...answering('/aml/entity/aml_ofOne1', entity), times: 2 },
      { path: '/aml/activity/amla_two', status: 404 },
    ]);
    const first = await work({ offsetMs: -2 * dayMs, ...details({}) });
    const { runId, counts } = await run(first);
    const facts = await showRun(database, 'default', runId);
    expect(facts).toMatchObject({
      state: 'complete',
      attemptsByOutcome: { ok: 'attempts' in counts && counts.attempts },
    });
    expect(facts.details.counts).toEqual({
      hits: 2,
      withoutRecord: 0,
      asked: 3,
      kept: 2,
      notAvailable: 1,
      leftOver: 0,
      stoppedBecause: null,
      backlogAsked: 0,
      backlogLeft: 0,
    });
    expect(await readBodies(site)).toEqual([withoutLink, entity]);

    const [report] = await runReports(first, {});
    const json = reportJsonSchema.parse(
      JSON.parse(await readFile(join(report?.directory ?? '', 'report.json'), 'utf8')),
    );
    expect(
      json.details.records.map(({ id, digest, reason, withheldLinks }) => [id, digest, reason, withheldLinks]),
    ).toEqual(
      expect.arrayContaining([
        ['amla_one', sha256(activity), null, 1],
        ['amla_two', null, 'http_404', 0],
        ['aml_ofOne1', sha256(entity), null, 0],
      ]),
    );
    const [history] = await readAlertHistories(database, 'default', 'C-1');
    expect(history?.details.map(({ id, digest }) => [id, digest])).toEqual([
      ['amla_one', sha256(activity)],
      ['aml_ofOne1', sha256(entity)],
    ]);

    // Gone and back: the same record is asked for again, and kept once.
    sandbox.setWorld({ watchlist: watchlist.slice(1), dossiers: [] });
    await run(await work({ offsetMs: -dayMs, ...details({}) }));
    sandbox.setWorld({ watchlist, dossiers: [] });
    const again = await run(await work(details({})));
    expect((await showRun(database, 'default', again.runId)).details).toMatchObject({
      counts: { hits: 1, asked: 2, kept: 2 },
      records: [{ digest: sha256(activity) }, { digest: sha256(entity) }],
    });
    expect(await readBodies(site)).toEqual([withoutLink, entity]);
    const rewriting = database.execute(`update match_detail set body = ''`);
    await expect(rewriting).rejects.toThrow();
  });

  it('never hold a run up: an outage, a refused account or a stop amid them leaves the rest, and the verdict as it is', async () => {
    const names = [...people, 'Isolde Vantongeren', 'Ruben Okonkwo', 'Yelena Drozdova', 'Pascal Thibodeaux'];
    const { sandbox, database, work, run } = await begin(names);
    const others = names.slice(2).map((name, index) => listed(`more${index}`, name));
    sandbox.setWorld({ watchlist: [...watchlist, ...others], dossiers: [] });
    const stopping = new AbortController();
    for (const [trouble, stoppedBecause] of [
      [() => sandbox.setConditions({ outage: { status: 503 } }), 'out_of_reach'],
      [() => sandbox.setConditions({ outage: { status: 402 } }), 'refused'],
      [() => stopping.abort(), 'signal'],
    ] as const) {
      const app = listenAlong(await work({ ...details({}), rate: { perSecond: 400, concurrency: 2 } }), (event) => {
        if (event.kind === 'stage_started' && event.stage === 'details') trouble();
      });
      const { runId, state } = await run(app, { selection: 'all' }, stopping.signal);
      sandbox.setConditions({});
      expect(state).toBe('complete');
      expect((await showRun(database, 'default', runId)).details.counts).toMatchObject({
        hits: 10,
        kept: 0,
        stoppedBecause,
      });
      // Whoever is listed for the first time is new to the next run.
      await database.execute('delete from party_state');
    }
  });

  it('go on where a run was broken off, within the bound of the whole run, sanctions first', async () => {
    const { sandbox, database, work, run } = await begin([...people, 'Isolde Vantongeren']);
    sandbox.setWorld({ watchlist: [...watchlist, listed('zero', 'Isolde Vantongeren', ['role.pep'])], dossiers: [] });
    const rate = { perSecond: 400, concurrency: 1 };
    const bound = { rate, ...details({ maxPerRun: 2 }) };
    await dieAtFirstDetail(await work(bound), run);
    expect(lookedUp(sandbox)).toEqual(['/aml/activity/amla_one']);
    const { runId, state } = await run(await work(bound));
    expect(state).toBe('complete');
    expect(lookedUp(sandbox)).toEqual(['/aml/activity/amla_one', '/aml/activity/amla_two']);
    expect((await showRun(database, 'default', runId)).details.counts).toMatchObject({
      hits: 3,
      asked: 2,
      kept: 2,
      leftOver: 1,
      stoppedBecause: 'limit',
    });
  });

  it('are fetched by later runs where a run has left them over, after what is new, while the match is listed', async () => {
    const names = [...people, 'Isolde Vantongeren', 'Ruben Okonkwo'];
    const { sandbox, database, work, run } = await begin(names);
    const others = [listed('zero', 'Isolde Vantongeren', ['role.pep']), listed('gone', 'Ruben Okonkwo', ['role.pep'])];
    sandbox.setWorld({ watchlist: [...watchlist, ...others], dossiers: [] });
    sandbox.setFaults([
      { ...answering('/aml/activity/amla_zero', activity.replace('amla_one', 'amla_zero')), times: 1 },
    ]);
    const night = async (daysAgo: number, maxPerRun: number) => {
      const asked = lookedUp(sandbox).length;
      const { runId } = await run(await work({ offsetMs: -daysAgo * dayMs, ...details({ maxPerRun }) }));
      const { counts } = (await showRun(database, 'default', runId)).details;
      return {
        ids: lookedUp(sandbox)
          .slice(asked)
          .map((path) => path.split('/').at(-1)),
        ...counts,
      };
    };
    expect(await night(4, 1)).toMatchObject({ ids: ['amla_one'], leftOver: 3, backlogLeft: 0 });
    sandbox.setWorld({ watchlist: [...watchlist, ...others.slice(0, 1), listed('new', 'Aroha Ngata')], dossiers: [] });
    const second = await night(3, 2);
    expect(second).toMatchObject({ hits: 1, leftOver: 0, backlogAsked: 1, backlogLeft: 1, stoppedBecause: 'limit' });
    expect(second.ids).toEqual(['amla_new', 'amla_two']);
    const third = await night(2, 2);
    expect(third).toMatchObject({ hits: 0, backlogAsked: 2, backlogLeft: 0, stoppedBecause: null });
    expect(third.ids).toEqual(['amla_zero', 'aml_ofOne1']);
    expect(await night(1, 1)).toMatchObject({ ids: [], backlogAsked: 0, backlogLeft: 0 });
  });
});
