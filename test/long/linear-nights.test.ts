import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { acceptRun } from '../../src/runs/screening/accept-run.js';
import type { ScreeningOptions } from '../../src/runs/screening-request.js';
import { readCustomerStatuses } from '../../src/store/customers/states.js';
import { type Database, readValue } from '../../src/store/database/database.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import { makeAcceptance, makeOddNames, openSmallSites, type SmallSite } from '../helpers/small-site.js';
import { dayMs, fileOf, listed, signal, type TestAppContext, toCsv } from '../helpers/small-world.js';

const sizes = isFullSize ? [800, 12_800] : [100, 400];

/** The pages that the database has looked at since it was opened, whatever else the machine does. */
async function readPages(database: Database): Promise<number> {
  await database.execute('select pg_stat_force_next_flush()');
  return readValue(
    database,
    z.number(),
    'select (blks_hit + blks_read)::bigint from pg_stat_database where datname = current_database()',
  );
}

/** Plays nights of all kinds; gives the pages that each looked at. */
async function playNights(site: SmallSite, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const pages = new Map<string, number>();
  const measure = async <Result>(step: string, play: (app: TestAppContext) => Promise<Result>): Promise<Result> => {
    const app = await site.work({ offsetMs: (pages.size - 20) * dayMs });
    const before = await readPages(site.database);
    const result = await play(app);
    pages.set(step, ((await readPages(site.database)) - before) / names.length);
    return result;
  };
  const rescreen = async (step: string, options: Partial<ScreeningOptions> = {}) =>
    measure(step, async (app) => {
      const acceptRoster = await makeAcceptance(app);
      return site.run(app, { selection: 'all', acceptRoster, writeReport: true, ...options });
    });
  const list = (count: number): void =>
    site.sandbox.setWorld({
      watchlist: [
        listed('c', 'Control Listed'),
        ...names.slice(0, count).map((name, index) => listed(`${index}`, name)),
      ],
      dossiers: [],
    });

  list(names.length / 2);
  await rescreen('first night, half of them hits');
  await rescreen('unchanged night');
  expect(await rescreen('stopped night', { maxSearches: names.length / 2 })).toMatchObject({ state: 'stopped' });
  expect(await rescreen('rest of it')).toMatchObject({ state: 'complete' });
  list(0);
  const { runId } = await rescreen('held night');
  await measure('acceptance', async (app) => acceptRun(app, runId, await makeAcceptance(app), signal));
  await writeFile(fileOf(site.roster), toCsv(names.map((name) => `${name} Junior`)));
  await rescreen('new names');
  await writeFile(fileOf(site.roster), toCsv(names.slice(0, names.length / 2)));
  await rescreen('half of them absent');
  await measure('coverage and status', async ({ settings }) => {
    let read = 0;
    for await (const rows of readCustomerStatuses(site.database, settings.organisation, [site.roster.name]))
      read += rows.length;
    expect(read).toBe(names.length);
  });
  return pages;
}

// It has no autovacuum: no statement is planned by more than what the program itself finds out about its tables.
const { open } = testDatabases('embedded');

describe('nights that follow at once', () => {
  const openSite = openSmallSites(open);

  it('look at no more pages of each customer where there are four times as many', {
    timeout: isFullSize ? 7_200_000 : 600_000,
  }, async () => {
    const [few, many] = [new Map<string, number>(), new Map<string, number>()];
    for (const [size, pages] of [
      [sizes[0], few],
      [sizes[1], many],
    ] as const) {
      const names = makeOddNames(size ?? 0);
      for (const [step, read] of await playNights(await openSite(names), names)) pages.set(step, read);
    }
    for (const [step, read] of many)
      printFigure(
        `${step}: ${few.get(step)?.toFixed(0)} pages of each of ${sizes[0]} customers, ${read.toFixed(0)} of ${sizes[1]}`,
      );
    const grown = [...many].filter(([step, read]) => read > 1.5 * (few.get(step) ?? 0)).map(([step]) => step);
    expect(grown).toEqual([]);
  });
});
