import { expect, it } from 'vitest';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { isFullSize } from '../../../helpers/figures.js';
import { findFaults, makeRoster } from '../../../helpers/made-rosters.js';

const seeds = Array.from({ length: isFullSize ? 90 : 30 }, (_, seed) => seed);

describeOnPostgres(`rosters in ${seeds.length} dialects, each with mishaps`, (open) => {
  it('lose no row, read nobody as somebody else, and have everybody searched for whose row is sound', async () => {
    const database = await open();
    const faults: string[] = [];
    for (const made of seeds.map(makeRoster))
      faults.push(...(await findFaults(database, made)).map((fault) => `${made.file}, ${made.title}: ${fault}`));
    expect(faults).toEqual([]);
  });
});
