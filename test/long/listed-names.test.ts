import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ListedParty } from '../../src/lists/list-file.js';
import { readPublishedList } from '../../src/lists/published-list.js';
import { createComparison } from '../../src/names/compare.js';
import { createSeededRandom, varyName } from '../../src/runs/checks/sample.js';
import { isFullSize, printFigure } from '../helpers/figures.js';

const folder = process.env['NIGHTSCREEN_TEST_DATA'] ?? '';
const isPresent = folder !== '' && existsSync(join(folder, 'watchlists'));
const cleanPeople = 1_000;

async function* batches(names: readonly string[]): AsyncGenerator<readonly string[]> {
  yield names;
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;

const toPlain = (name: string): string => name.normalize('NFKD').replace(/\p{M}/gu, '');
const toReversed = (name: string): string => name.split(/\s+/).toReversed().join(' ');

it('the published OFAC and UN lists: every listed name is forced in any order of its words, and few clean people', {
  timeout: 600_000,
}, async (context) => {
  context.skip(!isPresent, 'NIGHTSCREEN_TEST_DATA names no folder with real lists');
  const ofac = await readPublishedList(join(folder, 'watchlists/ofac/sdn.csv'));
  const un = await readPublishedList(join(folder, 'watchlists/un/UN_consolidated.xml'));
  expect([ofac.parties.length, un.parties.length]).toEqual([7_379, 1_003]);
  const rows = z.array(z.object({ full_name: z.string() }));
  const people = rows.parse(parse(await readFile(join(folder, 'rosters/negatives_us.csv'), 'utf8'), { columns: true }));
  const names = people.map((row) => row.full_name).slice(0, isFullSize ? people.length : 10_000);
  const against = (parties: readonly ListedParty[]) => createComparison(parties, batches(names));
  const clean = names.slice(0, isFullSize ? names.length : cleanPeople);
  const forced = new Set<string>();
  const inOfac = await against(ofac.parties);
  for (const { file, parties } of [ofac, un]) {
    const find = parties === ofac.parties ? inOfac : await against(parties);
    const ofList = clean.filter((name) => find(name, 'person'));
    for (const name of ofList) forced.add(name);
    const spellings = parties
      .filter((_, at) => isFullSize || at % 8 === 0)
      .flatMap(({ name, aliases, type }) => [name, ...aliases].map((spelling) => ({ spelling, type })));
    const lost = spellings.filter(({ spelling, type }) =>
      [spelling, spelling.toLowerCase(), toPlain(spelling), toReversed(spelling)].some(
        (written) => find(written, type ?? 'person') === null,
      ),
    );
    printFigure(
      `${file}: ${percent(ofList.length, clean.length)} of ${clean.length} clean people forced, ` +
        `${lost.length} of ${spellings.length} listed spellings lost`,
    );
    expect(lost).toEqual([]);
    expect(ofList.length / clean.length).toBeLessThan(0.03);
  }
  printFigure(`both lists: ${percent(forced.size, clean.length)} of ${clean.length} clean people forced`);
  expect(forced.size / clean.length).toBeLessThan(0.03);
  const random = createSeededRandom('real lists');
  const slips = ofac.parties.filter(({ isVehicle }, at) => !isVehicle && at % 10 === 0);
  const found = slips.filter(({ name, type }) => inOfac(varyName(name, random).name, type ?? 'person')).length;
  printFigure(`${percent(found, slips.length)} of ${slips.length} listed names with a slip found`);
  expect(found / slips.length).toBeGreaterThanOrEqual(0.97);
});
