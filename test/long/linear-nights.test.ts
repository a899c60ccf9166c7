import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, readValue } from '../../src/store/database/database.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { makeOddNames, openSmallSites } from '../helpers/small-site.js';

const sizes = [500, 2_000];
const nights = ['first', 'second', 'third'];

/** The pages that the database has looked at since it was opened, whatever else the machine does. */
async function readPages(database: Database): Promise<number> {
  await database.execute('select pg_stat_force_next_flush()');
  return readValue(
    database,
    z.number(),
    'select (blks_hit + blks_read)::bigint from pg_stat_database where datname = current_database()',
  );
}

// It has no autovacuum: no statement is planned by more than what the program itself finds out about its tables.
const { open } = testDatabases('embedded');

describe('nights that follow at once', () => {
  const openSite = openSmallSites(open);

  it('read no more of each customer where there are four times as many', async () => {
    const read: number[][] = [];
    for (const size of sizes) {
      const { work, run, database } = await openSite(makeOddNames(size));
      const each: number[] = [];
      for (const night of nights) {
        const before = await readPages(database);
        const { counts } = await run(await work(), { selection: 'all' });
        expect(counts.screened).toBe(size);
        each.push(((await readPages(database)) - before) / size);
        printFigure(`${night} night of ${size} customers: ${each.at(-1)?.toFixed(0)} pages of each`);
      }
      read.push(each);
    }
    const [few = [], many = []] = read;
    for (const [place, pages] of many.entries()) expect(pages).toBeLessThan(1.5 * (few[place] ?? 0));
  });
});
