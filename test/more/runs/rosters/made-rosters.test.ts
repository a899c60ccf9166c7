import { expect, it } from 'vitest';
import { listFaults, makeRoster, ownPool, playRoster } from '../../../campaign/made-rosters.js';
import { describeOnPostgres } from '../../../helpers/databases.js';

const seeds = Array.from({ length: 30 }, (_, seed) => seed);

// `npm run campaign:rosters` tries more, and the files of NIGHTSCREEN_TEST_DATA.
describeOnPostgres('rosters in thirty dialects, each with mishaps', (open) => {
  it('lose no row, read nobody as somebody else, and have everybody searched for whose row is sound', async () => {
    const database = await open();
    const faults: string[] = [];
    for (const seed of seeds) {
      const made = makeRoster(seed, ownPool);
      const played = await playRoster(database, made);
      faults.push(...listFaults(played, made.mayRefuse).map((fault) => `${seed}, ${made.title}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });
});
