import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSearch } from '../../src/sandbox/search-watchlist.js';
import { loadWorld } from '../../src/sandbox/world.js';

const folder = process.env['NIGHTSCREEN_TEST_DATA'] ?? '';
const isPresent = folder !== '' && existsSync(join(folder, 'watchlists'));
const peopleSchema = z.array(z.object({ full_name: z.string() }));

const readNames = async (file: string): Promise<string[]> => {
  const rows = peopleSchema.parse(parse(await readFile(join(folder, 'rosters', file), 'utf8'), { columns: true }));
  return rows.map((row) => row.full_name);
};

describe('the published OFAC and UN lists', () => {
  it('find the listed people, leave clean people alone and answer fast', { timeout: 120_000 }, async (context) => {
    context.skip(!isPresent, 'NIGHTSCREEN_TEST_DATA names no folder with real lists');
    const lists = ['watchlists/ofac', 'watchlists/un/UN_consolidated.xml'].map((path) => join(folder, path));
    const search = createSearch((await loadWorld({ watchlists: lists })).watchlist);
    const shareHit = (names: readonly string[]): number =>
      names.filter((name) => search('person', name).some((result) => result.match)).length / names.length;
    expect(shareHit(await readNames('positives_un_untreated.csv'))).toBeGreaterThanOrEqual(0.995);
    const clean = (await readNames('negatives_us.csv')).slice(0, 5_000);
    const startedCpu = process.cpuUsage();
    expect(shareHit(clean)).toBeLessThan(0.02);
    const { user, system } = process.cpuUsage(startedCpu);
    expect((user + system) / 1_000 / clean.length).toBeLessThan(2);
  });
});
