import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { reportJsonSchema } from '../../../src/reports/report-json.js';
import { reportSpans } from '../../../src/runs/write-reports.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { publishedSchemas } from '../../helpers/shipped-files.js';
import { openPreparedSites, type SmallSite } from '../../helpers/small-site.js';
import { dayMs, listed, type TestAppContext, watchlist } from '../../helpers/small-world.js';

const withTamsin = [...watchlist, listed('tamsin', 'Tamsin Oyelaran')];
const published = publishedSchemas.map(({ schema }) => z.fromJSONSchema(z.toJSONSchema(schema)));

/** Nights `day` days from now on which the list is this one. */
async function playNight(site: SmallSite, day: number, list = watchlist, options = {}): Promise<string> {
  site.sandbox.setWorld({ watchlist: list, dossiers: [] });
  const app = await site.work({ offsetMs: day * dayMs });
  return (await site.run(app, options)).runId;
}

async function report(app: TestAppContext, since: Date | string, until?: Date | string, roster?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'nightscreen-span-'));
  const results = await reportSpans(app, { since, until, roster }, { directory });
  const documents = await Promise.all(
    results.map(async ({ directory: folder }) => {
      const document: unknown = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
      expect(published[0]?.safeParse(document).error).toBeUndefined();
      return reportJsonSchema.parse(document);
    }),
  );
  return { results, documents, directory };
}

describeOnPostgres('the report of a span', (_open, databases) => {
  /** Sites after five nights, of which the last but one was stopped; `prepared` are their runs. */
  const openSite = openPreparedSites(databases, async (site) => {
    const before = await playNight(site, -6);
    const first = await playNight(site, -5, withTamsin);
    await playNight(site, -4);
    const stopped = await playNight(site, -2, watchlist, { maxSearches: 1 });
    return { before, first, stopped, last: await playNight(site, -1) };
  });

  it('tells what appeared and vanished within, says first what was missing or stopped, and is the same at any later time', async () => {
    const site = await openSite();
    const { before, first, stopped } = site.prepared;
    const app = await site.work();

    const until = new Date(Date.now() - dayMs / 2);
    const { results, documents, directory } = await report(app, first, until);
    const [document] = documents;
    expect(results).toMatchObject([{ state: 'incomplete', exitCode: 3 }]);
    expect(document?.changes?.map(({ kind, runId }) => [kind, runId.slice(-1)])).toEqual([
      ['match_added', '2'],
      ['match_removed', '3'],
    ]);
    expect(document?.span?.runs.map(({ id, level }) => [id.slice(-1), level])).toEqual([
      ['2', 'complete'],
      ['3', 'complete'],
      ['4', 'partial'],
      ['5', 'complete'],
    ]);
    expect(document?.run).toMatchObject({ state: 'incomplete', comparedWith: { runId: before } });
    expect(document?.verdict).toMatchObject({
      level: 'partial',
      short: '1 of 4 runs not complete, 1 screening missing, 3 open alerts, 3 critical, 3 overdue',
    });
    expect(document?.verdict.remarks[0]).toContain(`Run ${stopped} of`);
    expect(document?.verdict.remarks[1]).toMatch(/^No customer was screened between .*: 1 screening missing\.$/);
    expect(document?.coverage?.counts.inScope).toBe(6);
    expect(document?.notScreened).toEqual([]);
    const page = await readFile(join(results[0]?.directory ?? '', 'report.html'), 'utf8');
    expect(page).toContain('Runs of the span');
    // One of them waits to be confirmed as no longer matched.
    expect(page.match(/<tr id="alert-/g)).toHaveLength(3);

    // The night after changes nothing of a span that ended before it.
    await playNight(site, 0, withTamsin);
    const again = await report(app, first, until);
    expect(again.results[0]?.files).toEqual(results[0]?.files);
    expect(await readdir(directory)).toEqual([results[0]?.runId]);
  });

  it('keeps an earlier one where a run has gone on since', async () => {
    const site = await openSite();
    const { last } = site.prepared;
    const stopped = await playNight(site, 0, watchlist, { maxSearches: 1 });
    const app = await site.work();
    const { directory, results } = await report(app, last);
    await site.database.execute(`update run set state_reasons = '{"went on"}' where state = 'stopped'`);
    await reportSpans(app, { since: last, until: stopped, roster: undefined }, { directory });
    const [folder = ''] = await readdir(directory);
    expect(folder).toBe(results[0]?.runId);
    expect(await readdir(join(directory, folder))).toContain('earlier-1');
    expect(await readdir(join(directory, folder, 'earlier-1'))).toContain('manifest.json');
  });

  it('is refused where there is nothing to tell, or not what was asked for', async () => {
    const site = await openSite();
    const { last } = site.prepared;
    const app = await site.work();
    const refusals: readonly [Date | string, Date | string | undefined, string | undefined, string][] = [
      [new Date(Date.now() + dayMs), undefined, undefined, 'is in the future'],
      [new Date(Date.now() - dayMs / 2), undefined, undefined, 'there is no run in this span'],
      [new Date(Date.now() - dayMs), new Date(Date.now() - 2 * dayMs), undefined, 'is before --since'],
      [last, undefined, 'nobody', 'there is no roster nobody; there are: people'],
      ['77', undefined, undefined, 'there is no run 77'],
    ];
    for (const [since, until, roster, message] of refusals) {
      await expect(reportSpans(app, { since, until, roster }, {})).rejects.toThrow(message);
    }
    await site.database.execute(`update run set state = 'abandoned', sums = null`);
    await expect(reportSpans(app, { since: last, until: undefined, roster: undefined }, {})).rejects.toThrow(
      'no screening in this span has finished',
    );
  });
});
